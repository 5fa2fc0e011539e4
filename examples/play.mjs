// Plays one episode on a ChaosOps server: node examples/play.mjs [URL] [PACK] [SEED]
// Plain JavaScript without packages. Node 22 and browsers have WebSocket; Node 20 has it with
// --experimental-websocket. docs/wire/asyncapi.json describes the messages.

const [url = "http://127.0.0.1:8000", pack = "arena", seed = "7"] = process.argv.slice(2);
if (!/^\d+$/.test(seed) || !Number.isSafeInteger(Number(seed))) {
  console.error(`play.mjs: the seed must be a whole number below 2^53, got ${JSON.stringify(seed)}`);
  process.exit(1);
}
const socket = new WebSocket(url.replace(/^http/, "ws").replace(/\/+$/, "") + "/ws");

// Each message has one answer, so a queue of those who wait is enough.
const waiting = [];
socket.onmessage = ({ data }) => waiting.shift().resolve(JSON.parse(data));
socket.onclose = () => waiting.forEach(({ reject }) => reject(new Error("the server left")));

async function ask(type, data) {
  const answered = new Promise((resolve, reject) => waiting.push({ resolve, reject }));
  socket.send(JSON.stringify({ type, data }));
  const answer = await answered;
  if (answer.type === "error") throw new Error(`${answer.data.code}: ${answer.data.message}`);
  const { observation, reward, done } = answer.data;
  return { ...observation, reward, done };
}

const RANK = ["critical", "degraded", "healthy"];

// A rule for each role, from its view and the rules alone.
function decide({ role, view, step }, rules, memory) {
  const may = (verb) => rules.verbs[role].includes(verb);
  const worst = Object.entries(view.health).sort((a, b) => RANK.indexOf(a[1]) - RANK.indexOf(b[1]));
  const target = worst[0]?.[0] ?? rules.services[0];
  const loud = view.trace.filter((act) => act.agent && !memory.has(act.agent)).at(-1);
  if (role === "oversight" && may("audit") && loud) {
    memory.add(loud.agent);
    return { action: "audit", target: loud.agent };
  }
  if (role === "sre" && may("inspect") && !memory.has(target)) {
    memory.add(target);
    return { action: "inspect", target };
  }
  if (role === "dev" && may("restart")) return { action: "restart", target };
  if (role === "manager") return { action: "communicate", message: `step ${step}: what do you see?` };
  return { action: "noop" };
}

try {
  await new Promise((resolve, reject) => {
    socket.onopen = resolve;
    socket.onerror = () => reject(new Error(`no ChaosOps server at ${url}; start one: chaosops serve`));
  });
  let seen = await ask("reset", { pack, tier: "hard", seed: Number(seed), include: ["view"] });
  const { rules } = seen;
  const memory = new Set();
  while (!seen.done) {
    const { role, step } = seen;
    const action = decide(seen, rules, memory);
    seen = await ask("step", action);
    console.log(step + 1, role, JSON.stringify(action), seen.reward);
  }
  console.log(JSON.stringify(seen.debrief));
  socket.close();
} catch (error) {
  console.error(`play.mjs: ${error.message}`);
  process.exitCode = 1;
  socket.close();
}
