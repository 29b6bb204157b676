// Rights within a team: its owner lets another user in and gives him a role below the highest; he gives himself another
// one, and what answered him 403 lets him in afterwards. Two users who are really signed in. Trusted.
import { identifierOf } from "./made.mjs";
import { valuesOf } from "./names.mjs";
import { ask, quietly } from "./ways.mjs";

/** The payload of a request that has a role among its fields. */
const PAYLOAD = "fields of a privilege";
const ROLE = /^(?:role|level|rank|rights?|permissions?|access|kind)$/i;
const PERSON = /^(?:user|member|person|account|invitee|guest)(?:_?(?:id|name|email))?$|^(?:email|username|login|name|id)$/i;
const PEOPLE = /(?:members?|users?|people|collaborators?|participants?|roles?)\b/i;
const ROLES = 4;
const CONTAINERS = 3;

const pathOf = (route) => (route.entry.split(" ")[1] ?? "").replace(/\/$/, "");
const paramsOf = (route) => [...pathOf(route).matchAll(/[:{](\w+)/g)].map(([, name]) => name);
const verb = (route) => route.entry.split(" ")[0];
const below = (route, base) => pathOf(route).startsWith(`${base}/`) && paramsOf(route).length > 0;
const ways = ([, [way]]) => way;

/** Where teams are made, and what there is about one: {maker, way, add, set, others}. */
function containers(asked) {
  const found = [];
  for (const [maker, made] of asked.filter(([route]) => verb(route) === "POST" && !paramsOf(route).length)) {
    const base = pathOf(maker);
    const inside = asked.filter(([route]) => below(route, base));
    const fields = (one) => ways(one).known.filter(([source]) => source === "body").map(([, name]) => name);
    const set = inside.find((one) => /^(?:PATCH|PUT|POST)$/.test(verb(one[0])) && PEOPLE.test(pathOf(one[0])) && paramsOf(one[0]).length > 1 && fields(one).some((name) => ROLE.test(name)));
    const add = inside.find((one) => verb(one[0]) === "POST" && one !== set && PEOPLE.test(pathOf(one[0])) && paramsOf(one[0]).length === 1);
    if (set && add) found.push({ maker, made, add, set, others: inside.filter((one) => one !== set && one !== add && paramsOf(one[0]).length === 1) });
  }
  return found.slice(0, CONTAINERS);
}

/** Sends requests about one team. */
class Team {
  constructor(kit, { maker, made, add, set, others }) {
    Object.assign(this, { kit, maker, made, add, set });
    // What ends the team goes last.
    this.others = [...others].sort((a, b) => Number(verb(a[0]) === "DELETE") - Number(verb(b[0]) === "DELETE"));
    this.role = ways(set).known.find(([source, name]) => source === "body" && ROLE.test(name))[1];
  }

  async send([route, [way]], as, params = [], body = undefined) {
    const { tools, bounded } = this.kit;
    const named = Object.fromEntries(paramsOf(route).map((name, n) => [name, params[n]]));
    const values = { ...way.values, sparse: body !== undefined, params: { ...way.values.params, ...named }, body: body ?? way.values.body };
    return quietly(() => bounded(route.send(ask(route, way.known, values, tools, { as }))));
  }

  /** A new one of the owner's, the other user in it: its identifier. */
  async open(owner, other) {
    for (const way of this.made) {
      const reply = await this.send([this.maker, [way]], owner);
      const id = reply?.status < 300 ? identifierOf(reply.body) : undefined;
      if (id !== undefined) return (await this.letIn(id, owner, other)) ? id : undefined;
    }
    return undefined;
  }

  async letIn(id, owner, other) {
    const user = this.kit.tools.users[other];
    const names = ways(this.add).known.filter(([source, name]) => source === "body" && PERSON.test(name)).map(([, name]) => name);
    for (const name of names) {
      const value = /mail/i.test(name) ? user.email : /name|login/i.test(name) ? user.username : user.id;
      if ((await this.send(this.add, owner, [id], { [name]: value }))?.status < 300) return true;
    }
    return false;
  }

  give(id, as, user, role) {
    return this.send(this.set, as, [id, this.kit.tools.users[user].id], { [this.role]: role });
  }

  /** What answers that user with 403, as [route, ways]. */
  async shut(id, as) {
    const found = [];
    for (const one of this.others) if ((await this.send(one, as, [id]))?.status === 403) found.push(one);
    return found;
  }
}

/** One role: what the user comes to by giving himself another; undefined where nothing comes of it. */
async function tried(team, [owner, other], role, more) {
  for (const wanted of more) {
    if (team.kit.late()) return undefined;
    const id = await team.open(owner, other);
    if (id === undefined) return undefined;
    if (role !== undefined && !((await team.give(id, owner, other, role))?.status < 300)) return undefined;
    const shut = await team.shut(id, other);
    if (!shut.length) return undefined;
    const reply = await team.give(id, other, other, wanted);
    if (!(reply?.status < 300)) continue;
    for (const one of shut) {
      const after = await team.send(one, other, [id]);
      if (after?.status < 300) return { reply, wanted, entry: one[0].entry, status: after.status };
    }
  }
  return undefined;
}

export async function members(kit) {
  const { asked, tools, begin, tell } = kit;
  const users = tools.users.flatMap((user, n) => (user.signed ? [n] : [])).slice(0, 2);
  if (users.length < 2) return;
  for (const one of containers(asked)) {
    const team = new Team(kit, one);
    const roles = valuesOf(team.role, tools.tree.code).filter((value) => typeof value === "string" && /^\w{2,20}$/.test(value)).slice(0, ROLES);
    for (const role of [undefined, ...roles]) {
      const raised = await tried(team, users, role, roles.filter((other) => other !== role));
      if (!raised) continue;
      const [route] = team.set;
      const { reply, wanted, entry, status } = raised;
      const shown = `${entry} refuses a member${role === undefined ? "" : ` with ${team.role} ${role}`} with 403, and is answered with ${status} after he has given himself ${wanted}`;
      tell(route, "access", begin("access"), ["body", team.role], PAYLOAD, reply, shown, { text: shown });
      break;
    }
  }
}
