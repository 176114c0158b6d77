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

/** `looked`: the walls of which at least one part was compared or tried. Without a Tenant some have nothing to look at. */
export type Round = { readonly looked: ReadonlySet<WallName>; readonly findings: readonly Finding[] }

/** Rounds in which a wall cannot be looked at before it counts as off. */
export const patience = 3
/** Of one wall; more say nothing new. */
const maxFindings = 10
const maxText = 300

/** How many rounds in a row each wall was unknown. */
export type UnknownRounds = ReadonlyMap<WallName, number>

export type Judgement = { readonly findings: readonly Finding[]; readonly unknownRounds: UnknownRounds }

/** A wall that was off stays off until a round finds that it holds. */
export function judgeRound(before: readonly Finding[], unknownBefore: UnknownRounds, round: Round): Judgement {
  const unknownRounds = new Map<WallName, number>()
  const found = Map.groupBy(round.findings, ({ wall }) => wall)
  const findings = [...new Set([...round.looked, ...found.keys()])].flatMap(wall => {
    const all = (found.get(wall) ?? []).map(bounded)
    const off = all.filter(({ verdict }) => verdict === 'Off')
    if (off.length > 0 || all.length === 0) return off.slice(0, maxFindings)
    const offBefore = before.filter(one => one.wall === wall && one.verdict === 'Off')
    if (offBefore.length > 0) return offBefore
    const rounds = (unknownBefore.get(wall) ?? 0) + 1
    unknownRounds.set(wall, rounds)
    return rounds < patience ? all.slice(0, maxFindings) : all.slice(0, maxFindings).map(unanswered)
  })
  return { findings, unknownRounds }
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

/** The walls that are off. */
export function wallsOff(findings: readonly Finding[]): ReadonlySet<WallName> {
  return new Set(findings.filter(({ verdict }) => verdict === 'Off').map(({ wall }) => wall))
}

/** Those of the whole cluster, and those of the namespaces: what others have is not said. */
export function findingsFor(findings: readonly Finding[], namespaces: readonly string[]): readonly Finding[] {
  return findings.filter(({ where }) => where === undefined || namespaces.includes(where))
}

/** One line for each finding. */
export function findingText({ wall, verdict, where, text }: Finding): string {
  return `${wall}${where === undefined ? '' : ` in ${where}`}${verdict === 'Off' ? '' : ' (not known)'}: ${text}`
}
