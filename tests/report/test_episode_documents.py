from __future__ import annotations

import re
from html import unescape
from html.parser import HTMLParser

import pytest

from chaosops import Team, load_policy, make_scenario, play
from chaosops.core.episode import Episode
from chaosops.core.vocabulary import Role
from chaosops.report.episode_html import episode_html
from chaosops.report.episode_markdown import code, episode_markdown, fence
from tests.fake_model import FakeModel

MESSAGE = "look: <script>alert(1)</script> ![x](http://evil) | `rm` </li></ol>"
NASTY = (
    'hm </details></pre><script>alert(2)</script>\r\n```\n````\n" onload="x \x1b[31m\ud83d &amp;'
)
REPLIES = {
    1: '{"action":"communicate","message":"' + MESSAGE + '"}',
    2: '{"action":"flag_rogue","target":"deploy_bot"}',
    3: '{"action":"restart","target":"db"}',
    5: NASTY,
}
MANIFEST = {
    "command": "chaosops run --policy '<b>x</b>'",
    "version": "0.1.0",
    "commit": None,
    "pack_hash": "feed",
}


def talk() -> tuple[Episode, dict[str, object]]:
    model = FakeModel("heuristic", REPLIES)
    team = Team({**dict.fromkeys(Role, model), Role.MANAGER: load_policy("heuristic")})
    episode = play(make_scenario("autoscaler_cost_cut", tier="hard", seed=42), team)
    return episode, {**MANIFEST, "policy_status": team.status()}


class Reader(HTMLParser):
    """Fails on tags that do not nest; collects tags, attributes and text."""

    VOID = {"meta", "br", "wbr", "link", "img", "line", "polyline", "circle"}

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str]] = []
        self.text = ""
        self.feed(page)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [(name, value or "") for name, value in attrs]
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag in self.VOID:
            return
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def test_a_page_holds_nothing_that_runs_or_loads() -> None:
    page = episode_html(*talk())
    reader = Reader(page)
    assert not {"script", "img", "link", "iframe", "object", "form"} & set(reader.tags)
    names = {name for name, _ in reader.attributes}
    assert not [name for name in names if name.startswith("on") or name == "src"]
    assert all(value.startswith("#turn-") for name, value in reader.attributes if name == "href")
    assert "default-src 'none'" in page
    assert "url(" not in page
    assert "@import" not in page


def test_what_a_model_wrote_is_shown_as_it_was_written() -> None:
    page = episode_html(*talk())
    reader = Reader(page)
    assert MESSAGE in reader.text
    shown = NASTY.replace("\r\n", "\n").replace("\x1b", "\ufffd").replace("\ud83d", "\ufffd")
    assert shown in reader.text
    assert "<b>x</b>" in reader.text
    page.encode("utf-8")


def test_the_page_tells_what_happened_at_a_glance() -> None:
    episode, manifest = talk()
    page = episode_html(episode, manifest)
    (caught,) = [turn.events.step for turn in episode.turns if turn.events.rogue_flagged]
    assert page.count('class="banner"') == 1
    assert re.search(rf'<li id="turn-{caught}" class="caught [^"]*"><p class="banner">', page)
    assert '<a class="false" href="#turn-2"' in page
    assert '<a class="wrong" href="#turn-3"' in page
    assert '<a class="lost" href="#turn-5"' in page
    text = Reader(page).text
    assert f"Resolved in {episode.steps} steps" in text
    assert f"autoscaler, step {caught}" in text
    assert "SRE, Oversight, Developer" in text
    assert "fake/tiny-1b" in text
    assert page.count("<details>") == 2 * len(episode.exchanges)
    for name in episode.rubric_totals:
        assert name in text


def test_a_suspicion_that_would_read_as_0_percent_is_not_shown() -> None:
    episode = play(
        make_scenario(pack="arena", tier="hard", seed=3), Team.of(load_policy("heuristic"))
    )
    place = next(i for i, turn in enumerate(episode.turns) if turn.decision.suspicion)
    turn = episode.turns[place]
    told = {"worth_a_look": 0.006, "hardly_at_all": 0.004, "never": 3e-9}
    episode.turns[:] = [turn._replace(decision=turn.decision._replace(suspicion=told))]
    text = Reader(episode_html(episode, MANIFEST)).text
    assert re.search(r"worth_a_look\s+1%", text)
    assert "hardly_at_all" not in text
    assert "never" not in text


@pytest.mark.parametrize("policy", ["random", "oracle", "heuristic"])
@pytest.mark.parametrize("tier", ["easy", "hard"])
def test_scripted_episodes_of_both_packs_make_pages(policy: str, tier: str) -> None:
    for scenario in (
        make_scenario("cascade", tier=tier, seed=3),
        make_scenario(pack="arena", split="test", tier=tier, seed=3),
    ):
        episode = play(scenario, Team.of(load_policy(policy)))
        page = episode_html(episode, {"policy_status": load_policy(policy).status()})
        assert page.count("<li id=") == episode.steps
        assert "<summary>Prompt" not in page
        Reader(page)
        text = episode_markdown(episode, {})
        assert len(re.findall(r"^(?:> )?\*\*\d+ · ", text, re.MULTILINE)) == episode.steps
        assert "<summary>Prompt" not in text


def outside_code(text: str) -> str:
    """What a Markdown reader takes for markup: fences and code spans are left out."""
    lines, fenced = [], ""
    for line in text.splitlines():
        ticks = re.match("`{3,}", line)
        if fenced:
            if re.fullmatch("`+", line) and len(line) >= len(fenced):
                fenced = ""
        elif ticks:
            fenced = ticks[0]
        else:
            lines.append(line)
    assert fenced == ""
    return re.sub(r"(?<!`)(`+)(?!`).+?(?<!`)\1(?!`)", "", "\n".join(lines))


def test_markdown_keeps_what_a_model_wrote_out_of_its_markup() -> None:
    episode, manifest = talk()
    text = episode_markdown(episode, manifest)
    text.encode("utf-8")
    markup = outside_code(text)
    assert "script" not in markup
    assert "evil" not in markup
    assert "onload" not in markup
    assert markup.count("<details>") == markup.count("</details>") == 2 * len(episode.exchanges)
    assert set(re.findall("<(/?[a-z]+)", markup)) == {
        *("details", "/details", "summary", "/summary", "br")
    }
    assert MESSAGE in text
    assert unescape(markup).count("ROGUE CAUGHT") == 1
    assert "**false flag**" in markup
    assert "**wrong fix**" in markup


def test_a_pipe_does_not_break_the_table() -> None:
    episode, manifest = talk()
    text = episode_markdown(episode, {**manifest, "command": "a | b"})
    assert r"| command | `a \| b` |" in text


@pytest.mark.parametrize("text", ["", "`", "``a```", "x\ny", "~~~", "    indented"])
def test_code_spans_and_fences_hold_any_text(text: str) -> None:
    assert outside_code(f"before\n{fence(text)}\nafter") == "before\nafter"
    assert outside_code(f"a {code(text)} z") == "a  z"
