// The page of one recorded case.

import { byId } from "./dom.js";
import { CasePlay } from "./case_play.js";

const root = byId("case");
const { case: name, embedded } = root.dataset;
const play = new CasePlay(root, { embedded: embedded !== undefined });
play.begin(name, new URLSearchParams(location.search).get("step"));
