// What a round finds about the walls, and what stands after it. Pure. A wall that could not be looked at counts as off after a
// few rounds: silence proves nothing.
import type { WallName } from './walls.ts'

export type Finding = {
  readonly wall: WallName
  /** `Unknown`: the answer shows neither that the wall holds nor that it does not. */
  readonly verdict: 'Off' | 'Unknown'
  /** The namespace of a tenant that it is about; absent when it is about the whole cluster. */
  readonly where?: string
  readonly text: string
}

/** A wall in a namespace of a tenant; without one, in the whole cluster. */
export type Place = Pick<Finding, 'wall' | 'where'>

/** `looked`: what was compared or tried. Without a Tenant some walls have nothing to look at. */
export type Round = { readonly looked: readonly Place[]; readonly findings: readonly Finding[] }

/** Rounds in which a place cannot be looked at before its wall counts as off there. */
export const patience = 3
/** Of one wall in one place; more say nothing new. */
const maxFindings = 5
const maxText = 300

/** How many rounds in a row each place was unknown. */
export type UnknownRounds = ReadonlyMap<string, number>

export type Judgement = { readonly findings: readonly Finding[]; readonly unknownRounds: UnknownRounds }

export type Before = {
  readonly findings: readonly Finding[]
  readonly unknownRounds: UnknownRounds
  /** Whether the namespace is still of a tenant: what was found in others is forgotten. */
  readonly exists: (namespace: string) => boolean
}

const keyOf = ({ wall, where = '' }: Place): string => `${wall} ${where}`

/**
 * A wall that was off in a place stays off there until a round looks at that place and finds that it holds; one that was not
 * known stays so, with its count of rounds.
 */
export function judgeRound(before: Before, round: Round): Judgement {
  const found = Map.groupBy(round.findings, keyOf)
  const looked = new Set([...round.looked.map(keyOf), ...found.keys()])
  const stays = (place: Place): boolean => !looked.has(keyOf(place)) && (place.where === undefined || before.exists(place.where))
  const kept = before.findings.filter(stays)
  const offBefore = Map.groupBy(
    before.findings.filter(({ verdict }) => verdict === 'Off'),
    keyOf,
  )
  const going = new Set(kept.map(keyOf))
  const unknownRounds = new Map([...before.unknownRounds].filter(([key]) => going.has(key)))
  const judged = [...looked].flatMap(key => {
    const all = (found.get(key) ?? []).map(bounded)
    const off = all.filter(({ verdict }) => verdict === 'Off')
    if (off.length > 0 || all.length === 0) return off.slice(0, maxFindings)
    const was = offBefore.get(key)
    if (was !== undefined) return was
    const rounds = (before.unknownRounds.get(key) ?? 0) + 1
    unknownRounds.set(key, rounds)
    const some = all.slice(0, maxFindings)
    return rounds < patience ? some : some.map(unanswered)
  })
  return { findings: [...judged, ...kept], unknownRounds }
}

function bounded(finding: Finding): Finding {
  return { ...finding, text: finding.text.slice(0, maxText) }
}

/** The count of rounds is not said: it would change what is recorded with each of them. */
function unanswered(finding: Finding): Finding {
  return {
    ...finding,
    verdict: 'Off',
    text: `it could not be looked at for ${patience} rounds: ${finding.text}`.slice(0, maxText),
  }
}

/** The walls that are off, each with the places where. */
export function wallsOff(findings: readonly Finding[]): ReadonlyMap<WallName, ReadonlySet<string>> {
  const off = findings.filter(({ verdict }) => verdict === 'Off')
  return new Map([...Map.groupBy(off, ({ wall }) => wall)].map(([wall, all]) => [wall, new Set(all.map(keyOf))]))
}

/** Those of the whole cluster, and those of the namespaces: what others have is not said. */
export function findingsFor(findings: readonly Finding[], namespaces: readonly string[]): readonly Finding[] {
  return findings.filter(({ where }) => where === undefined || namespaces.includes(where))
}

/** One line for each finding. */
export function findingText({ wall, verdict, where, text }: Finding): string {
  return `${wall}${where === undefined ? '' : ` in ${where}`}${verdict === 'Off' ? '' : ' (not known)'}: ${text}`
}
