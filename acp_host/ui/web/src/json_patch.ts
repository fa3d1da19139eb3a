/**
 * JSON Patch (RFC 6902) with structural sharing: what an operation does not touch is the same object afterwards, so that
 * a view can tell by `===` what to draw again. Of the operations there are the three that a feed sends: `add`, `remove`
 * and `replace`. An object or array that several operations of one patch touch is copied once.
 *
 * Otherwise than in the RFC, `null` may stand for something that the feed has left out of a snapshot: operations that lead
 * into it are passed over, since what they change will be fetched as it is then.
 */

export type Json = null | boolean | number | string | Json[] | { [name: string]: Json };

export interface Operation {
  op: string;
  path: string;
  value?: Json;
}

/** The operations do not fit the value; nothing of it has been changed. */
export class PatchError extends Error {}

type Container = Json[] | { [name: string]: Json };

/** Returns `document` after all of `operations`; `document` itself stays as it is. */
export function applyPatch(document: Json, operations: readonly Operation[]): Json {
  const own = new Set<Container>();
  let root = document;
  for (const operation of operations) {
    const tokens = readPointer(operation.path);
    const last = tokens.pop();
    if (last === undefined) {
      if (operation.op === "remove") throw new PatchError("the whole document cannot be removed");
      root = given(operation);
      continue;
    }
    let holder = (root = writable(root, own));
    const omitted = tokens.some((token) => {
      const child = member(holder, token);
      if (child === null) return true;
      const copy = writable(child, own);
      put(holder, token, copy);
      holder = copy;
      return false;
    });
    if (!omitted) change(holder, last, operation);
  }
  return root;
}

function readPointer(path: string): string[] {
  if (path === "") return [];
  if (!path.startsWith("/")) throw new PatchError(`${path} is no JSON Pointer`);
  return path
    .slice(1)
    .split("/")
    .map((token) => token.replaceAll("~1", "/").replaceAll("~0", "~"));
}

function writable(value: Json, own: Set<Container>): Container {
  if (value === null || typeof value !== "object") throw new PatchError("the path leads into a value that has no members");
  if (own.has(value)) return value;
  const copy = Array.isArray(value) ? value.slice() : { ...value };
  own.add(copy);
  return copy;
}

function member(holder: Container, token: string): Json {
  if (Array.isArray(holder)) return holder[place(holder, token, holder.length - 1)]!;
  if (!Object.hasOwn(holder, token)) throw new PatchError(`there is no member ${token}`);
  return holder[token]!;
}

function put(holder: Container, token: string, value: Json): void {
  if (Array.isArray(holder)) holder[place(holder, token, holder.length - 1)] = value;
  // An agent chooses some of the names. `__proto__` is one like any other, and must not become the prototype.
  else Object.defineProperty(holder, token, { value, writable: true, enumerable: true, configurable: true });
}

function change(holder: Container, token: string, operation: Operation): void {
  switch (operation.op) {
    case "add":
      if (!Array.isArray(holder)) put(holder, token, given(operation));
      else if (token === "-") holder.push(given(operation));
      else holder.splice(place(holder, token, holder.length), 0, given(operation));
      break;
    case "replace":
      member(holder, token);
      put(holder, token, given(operation));
      break;
    case "remove":
      member(holder, token);
      if (Array.isArray(holder)) holder.splice(place(holder, token, holder.length - 1), 1);
      else delete holder[token];
      break;
    default:
      throw new PatchError(`the operation ${operation.op} is not known`);
  }
}

function given(operation: Operation): Json {
  if (operation.value === undefined) throw new PatchError(`${operation.op} ${operation.path} has no value`);
  return operation.value;
}

function place(list: Json[], token: string, most: number): number {
  const index = /^(0|[1-9]\d*)$/.test(token) ? Number(token) : -1;
  if (index < 0 || index > most) throw new PatchError(`there is no place ${token} in a list of ${list.length}`);
  return index;
}
