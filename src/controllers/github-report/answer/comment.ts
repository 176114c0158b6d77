// The one comment on a pull request: what the preview is in, where it answers, what failed, and how to read the log. Everything
// that others wrote is code (markdown.ts); names of Kubernetes objects, commit ids and times have forms that the platform
// checks. Pure.
import { codeBlock, codeSpan, link } from './markdown.ts'
import type { Phase, Situation } from './situation.ts'

/** What the comment names beside the situation. */
export type CommentContext = {
  /** Finds the comment again; begins it. */
  readonly marker: string
  readonly namespace: string
  /** The name of the AppPipeline. */
  readonly pipeline: string
  readonly logUrl: string
}

const titles: Readonly<Record<Phase, string>> = {
  Waiting: 'waiting',
  WaitingForApproval: 'waiting for an approval',
  LeftOut: 'not made',
  Building: 'building',
  Running: 'running',
  Failed: 'failed',
  Conflict: 'merge conflict',
  Paused: 'paused',
  Unchanged: 'running',
  Skipped: 'running',
  Gone: 'destroyed',
}

const explanations: Readonly<Partial<Record<Phase, string>>> = {
  Conflict: 'The pull request has conflicts with its base branch. What ran before goes on; resolve the conflicts and push.',
  Paused: 'The preview was paused. Its pods are stopped, and nothing is built.',
  Gone: 'The preview and everything that belonged to it was removed.',
}

const fullCommit = /^[0-9a-f]{40}([0-9a-f]{24})?$/

function approval(commit: string): string {
  return `The commits of this pull request come from a fork, so nothing is built before a person with write permission on this repository approves this very commit:\n\n\`\`\`text\n/sekisho approve ${commit}\n\`\`\`\n\nas a comment, or by an approving review. A push needs another approval.`
}

/** Seconds and milliseconds are of no use to people. */
function minuteOf(timestamp: string): string | undefined {
  const time = new Date(timestamp)
  return Number.isNaN(time.getTime()) ? undefined : `${time.toISOString().slice(0, 16).replace('T', ' ')} UTC`
}

function facts({ phase, commit, since, url, build }: Situation, { namespace, logUrl }: CommentContext): readonly string[] {
  const time = since === undefined ? undefined : minuteOf(since)
  const known = commit !== undefined && fullCommit.test(commit)
  return [
    ...(url === undefined || phase === 'Gone' ? [] : [`- URL: ${link(url)}`]),
    ...(known ? [`- Commit: ${codeSpan(commit)}`] : []),
    ...(time === undefined ? [] : [`- Since: ${time}`]),
    ...(build === undefined
      ? []
      : [
          `- Build log: ${link(logUrl)} for members of the tenant, or ${codeSpan(`sekisho builds logs ${build} -n ${namespace}`, 400)}`,
        ]),
  ]
}

/** The text of the comment, far below GitHub's 65,536 characters. */
export function commentBody(situation: Situation, context: CommentContext): string {
  const { phase, commit, reason, message } = situation
  const explained = explanations[phase]
  const why = reason === undefined ? '' : ` (${codeSpan(reason, 64)})`
  const about = phase === 'Failed' ? `What failed${why}:` : `Why${why}:`
  const parts = [
    context.marker,
    `**Preview ${codeSpan(context.pipeline)}: ${titles[phase]}**`,
    ...(explained === undefined ? [] : [explained]),
    facts(situation, context).join('\n'),
    ...(phase === 'WaitingForApproval' && commit !== undefined && fullCommit.test(commit) ? [approval(commit)] : []),
    ...(message === undefined || message === '' ? [] : [`${about}\n\n${codeBlock(message, { lines: 12, characters: 1500 })}`]),
  ]
  return parts.filter(part => part !== '').join('\n\n')
}
