// The policies of one namespace, or those of the cluster, as an index: by permission and by requester. Compiled once for each
// state of the objects. Pure. It finds the rules that match one combination, and says of those whose match depends on facts that
// are not known that they may match. A test holds it to casbin over all rules (docs/adr/0086-policies-of-grants.md).
import { canonicalJson } from '../../lib/json/canonical-json.ts'
import { shortHash } from '../../lib/text/bounded-name.ts'
import { compareText } from '../../lib/text/compare-text.ts'
import { defaultGrantRules, familyOf } from '../grant-rule.ts'
import { permissionRank } from '../permission-level.ts'
import { type PolicyAtom, type PolicyFacts, personKey, roleKey, teamKey } from './policy-facts.ts'
import {
  allows,
  builtInRow,
  concerns,
  covers,
  includes,
  type Kind,
  type Policy,
  type Row,
  type Rule,
  rowOf,
} from './policy-row.ts'
import { shorter } from './token-lifetime.ts'

/** Rules that name repositories in full, by these names in lower case; the others apart. */
type Rows = { readonly byName: Map<string, Row[]>; readonly others: Row[] }

/** Rules by the key of their requester; `asked` are the keys that only GitHub can answer. */
type Bucket = { readonly rows: Map<string, Rows>; readonly asked: Set<string> }

/** The policies of one place. */
export type PolicyLayer = {
  readonly index: ReadonlyMap<string, Bucket>
  /** Of what they say; undefined when there are none. */
  readonly digest: string | undefined
  /** Without it all refs of a grant are the same to the rules. */
  readonly namesRefs: boolean
}

/** What the rules of a layer say about one combination: the first that match, and whether others may. */
export type Found = {
  deny: Row | undefined
  /** Of those that require approval, the one that requires most. */
  approve: Row | undefined
  allow: Row | undefined
  mayDeny: boolean
  mayRequire: boolean
  mayAllow: boolean
  /** The shortest life of tokens that a matching rule names, and that one which may match does. */
  lifetime: number | undefined
  maybeLifetime: number | undefined
}

const [anybody, anything] = ['*', '*']

/** The order of the policies does not matter. `kind` names them in decisions. */
export function policyLayer(kind: Kind, policies: readonly Policy[]): PolicyLayer {
  const sorted = policies.toSorted((a, b) => compareText(a.metadata.name, b.metadata.name))
  const index = new Map<string, Bucket>()
  const replaced = sorted.some(({ spec }) => spec.builtInRules === 'Replace')
  for (const rule of defaultGrantRules) if (!replaced || rule.effect === 'deny') add(index, builtInRow(kind, rule), [anybody])
  for (const { metadata, spec } of sorted)
    for (const rule of spec.rules) add(index, rowOf(kind, metadata.name, rule), requesterKeys(rule))
  const said = sorted.map(({ metadata, spec }) => ({ name: metadata.name, spec }))
  const digest = shortHash(canonicalJson(structuredClone(said)), 32)
  const namesRefs = sorted.some(({ spec }) => spec.rules.some(({ refs }) => refs !== undefined))
  return { index, digest: sorted.length === 0 ? undefined : digest, namesRefs }
}

function requesterKeys({ requesters }: Rule): readonly string[] {
  if (requesters === undefined) return [anybody]
  return requesters.flatMap(({ type, id, role }) => {
    if (type === 'Role') return role === undefined ? [] : [roleKey(role)]
    return id === undefined ? [] : [type === 'Team' ? teamKey(id) : personKey(id)]
  })
}

function add(index: Map<string, Bucket>, row: Row, requesters: readonly string[]): void {
  for (const permission of row.permissions.keys()) {
    const bucket = index.get(permission) ?? { rows: new Map(), asked: new Set() }
    index.set(permission, bucket)
    for (const key of requesters) {
      const rows = bucket.rows.get(key) ?? { byName: new Map(), others: [] }
      bucket.rows.set(key, rows)
      addRow(rows, row)
      if (key.startsWith('team:') || key.startsWith('role:')) bucket.asked.add(key)
    }
  }
}

function addRow({ byName, others }: Rows, row: Row): void {
  if (row.names === undefined) others.push(row)
  for (const name of row.names ?? []) {
    const rows = byName.get(name) ?? []
    byName.set(name, rows)
    rows.push(row)
  }
}

/** Collects what would decide whether a rule matches. */
export type Open = { readonly keys: Set<string>; repositories: boolean }

/** What is not known about rules that may match is added to `open`. */
export function findRules(layer: PolicyLayer, facts: PolicyFacts, atom: PolicyAtom, open: Open): Found {
  const found: Found = {
    deny: undefined,
    approve: undefined,
    allow: undefined,
    mayDeny: false,
    mayRequire: false,
    mayAllow: false,
    lifetime: undefined,
    maybeLifetime: undefined,
  }
  const level = permissionRank(atom.level)
  const name = atom.repository.name.toLowerCase()
  for (const permission of new Set([atom.permission, familyOf(atom.permission), anything])) {
    const bucket = layer.index.get(permission)
    const all = bucket === undefined ? [] : candidates(bucket, facts.requester, name)
    for (const one of all) noteThose(found, one, { facts, atom, permission, level, open })
  }
  return found
}

type Asking = {
  readonly facts: PolicyFacts
  readonly atom: PolicyAtom
  readonly permission: string
  readonly level: number
  readonly open: Open
}

function noteThose(found: Found, { rows, asked, onlyRestricts }: Candidates, asking: Asking): void {
  const { facts, atom, permission, level, open } = asking
  for (const row of rows) {
    if (onlyRestricts && row.effect === 'allow') continue
    if (!covers(row, permission, level) || !concerns(row, facts, atom)) continue
    const allowed = !onlyRestricts && allows(row, { permission, level, delivery: facts.delivery, ref: atom.ref })
    note(found, row, { isIn: includes(row, atom), allows: allowed, asked, open })
  }
}

type Candidates = {
  readonly rows: readonly Row[]
  /** The team or role that the requester may have, which is not known. */
  readonly asked: string | undefined
  /** Of what names other requesters: it denies and requires approval, and allows nothing. */
  readonly onlyRestricts: boolean
}

/**
 * Those for the requester and the repository. Who stands behind a ServiceAccount is not known: what denies somebody, or requires
 * approval of somebody, does so for it; otherwise a program would be a way around.
 */
function candidates(
  { rows, asked }: Bucket,
  { personId, memberships, isNobody = false }: PolicyFacts['requester'],
  name: string,
): readonly Candidates[] {
  const found: Candidates[] = []
  const add = (key: string, open: string | undefined, onlyRestricts = false): void => {
    const some = rows.get(key)
    if (some === undefined) return
    found.push({ rows: some.others, asked: open, onlyRestricts })
    const named = some.byName.get(name)
    if (named !== undefined) found.push({ rows: named, asked: open, onlyRestricts })
  }
  if (isNobody) {
    for (const key of rows.keys()) add(key, undefined, key !== anybody)
    return found
  }
  add(anybody, undefined)
  if (personId !== undefined) add(personKey(personId), undefined)
  for (const key of asked) {
    const isMember = memberships.get(key)
    if (isMember !== false) add(key, isMember === true ? undefined : key)
  }
  return found
}

type Match = {
  readonly isIn: boolean | undefined
  /** It allows what is asked for, if only with approval. */
  readonly allows: boolean
  readonly asked: string | undefined
  readonly open: Open
}

function note(found: Found, row: Row, match: Match): void {
  if (match.isIn === false) return
  if (match.isIn === true && match.asked === undefined) noteCertain(found, row, match)
  else notePossible(found, row, match)
}

function noteCertain(found: Found, row: Row, { allows }: Match): void {
  if (row.effect === 'deny') found.deny ??= row
  if (row.effect === 'approve' && row.approvals > (found.approve?.approvals ?? 0)) found.approve = row
  if (allows) found.allow ??= row
  found.lifetime = shorter(found.lifetime, row.lifetime)
}

function notePossible(found: Found, row: Row, { isIn, allows, asked, open }: Match): void {
  if (row.effect === 'deny') found.mayDeny = true
  if (row.effect === 'approve') found.mayRequire = true
  if (allows) found.mayAllow = true
  found.maybeLifetime = shorter(found.maybeLifetime, row.lifetime)
  if (asked !== undefined) open.keys.add(asked)
  if (isIn === undefined) open.repositories = true
}
