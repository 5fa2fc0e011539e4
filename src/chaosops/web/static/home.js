// The case on the first page. It begins at once, and ends when the visitor runs something else.

import { byId, h } from "./dom.js";
import { ROOT } from "./api.js";
import { CasePlay } from "./case_play.js";

const TODAY = "today";

export class Home {
  show() {
    byId("case").hidden = false;
    byId("live").hidden = !byId("live").firstChild;
    if (!this.play) this.#begin();
  }

  hide() {
    byId("case").hidden = true;
    byId("live").hidden = true;
    byId("advanced").open = true;
    this.play?.stop();
  }

  async #begin() {
    const failed = () => (byId("advanced").open = true);
    this.play = new CasePlay(byId("case"), { failed });
    await this.play.begin(TODAY);
    const { title, tier, services, agents, question } = this.play.found;
    const size = `${services} services, ${agents.length} agents of the fleet`;
    byId("case-title").textContent = question;
    const all = h("a", { href: new URL("case", ROOT).href }, "All cases");
    byId("case-about").replaceChildren(`Case of the day. ${title} · ${tier} · ${size} · `, all);
    if (byId("case").hidden) this.play.stop(); // a run was started meanwhile
  }
}
