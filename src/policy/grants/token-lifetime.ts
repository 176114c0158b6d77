// How long the tokens of a grant live, by its subjects. Pure. For each combination the shortest time that a matching rule of
// either place names counts, and without one that of the kind of the subject; a token is for all combinations of its subject, so
// the shortest of them counts for it. So a rule that matches a part of a grant shortens its tokens and never prolongs them.
import type { RepositoryGrant } from '../../api/github/repository-grant.ts'

type Subject = RepositoryGrant['spec']['subjects'][number]

/** GitHub's tokens expire after an hour. */
const githubSeconds = 3600
/** What a workload holds may be copied (docs/adr/0095-tokens-of-workloads-live-fifteen-minutes.md). */
const workloadSeconds = 900

/** The platform itself uses what these get; every other subject is a workload of the tenant. */
const platformKinds: ReadonlySet<string> = new Set(['RemoteSync', 'AppPipeline'])

/** A subject whose tokens live for another time than those of its kind do. */
export type TokenLifetime = Subject & { readonly seconds: number }

/** Where no rule names a time. */
export function defaultTokenSeconds(kind: string): number {
  return platformKinds.has(kind) ? githubSeconds : workloadSeconds
}

/** The shorter one; what is undefined says nothing. */
export function shorter(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined || b === undefined ? (a ?? b) : Math.min(a, b)
}

/** Collects what the rules say about each combination. */
export type LifetimesSoFar = Map<Subject, number>

/** `seconds`: what the matching rules say about one combination of the subject. */
export function addLifetime(so: LifetimesSoFar, subject: Subject, seconds: number | undefined): void {
  const one = seconds ?? defaultTokenSeconds(subject.kind)
  so.set(subject, Math.min(one, so.get(subject) ?? one))
}

/** Those that differ from the default. */
export function lifetimesOf(so: LifetimesSoFar): readonly TokenLifetime[] {
  return [...so].flatMap(([{ kind, name }, seconds]) => (seconds === defaultTokenSeconds(kind) ? [] : [{ kind, name, seconds }]))
}

type OfStatus = readonly TokenLifetime[] | undefined
type Named = { readonly kind: string; readonly name: string }

/** Of one subject, by the status of its grant. */
export function tokenSeconds(lifetimes: OfStatus, { kind, name }: Named): number {
  return lifetimes?.find(one => one.kind === kind && one.name === name)?.seconds ?? defaultTokenSeconds(kind)
}

/** Whether tokens that were made by the former times may live longer than they may now. */
export function isShortened(subjects: readonly Named[], before: OfStatus, after: OfStatus): boolean {
  return subjects.some(subject => tokenSeconds(after, subject) < tokenSeconds(before, subject))
}

/** Between GitHub's answer and the registry. */
const slackMilliseconds = 30_000

type Living = {
  readonly subject: Named
  readonly mintedAt: Date
  readonly livesUntil?: Date | undefined
  readonly expiresAt: Date
}

/** Whether a token would live longer than the status lets it. What may live for an hour GitHub ends itself. */
export function outlives(lifetimes: OfStatus, { subject, mintedAt, livesUntil, expiresAt }: Living): boolean {
  const seconds = tokenSeconds(lifetimes, subject)
  const end = (livesUntil ?? expiresAt).getTime() - slackMilliseconds
  return seconds < githubSeconds && end > mintedAt.getTime() + seconds * 1000
}

/** As text for people: `ServiceAccount ci: 300 s`. */
export function lifetimesText(lifetimes: OfStatus): string {
  return (lifetimes ?? []).map(({ kind, name, seconds }) => `${kind} ${name}: ${seconds} s`).join(', ')
}
