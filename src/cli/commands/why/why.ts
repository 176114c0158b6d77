// `sekisho why`: every step from GitHub to the first answer, and the first one that is wrong, with its cure.
import { AppError } from '../../../lib/errors.ts'
import { applications, domainClaims, remoteSyncs, repositoryGrants, serviceBindings } from '../../kubernetes/kinds.ts'
import { namedObject } from '../../kubernetes/named-object.ts'
import { type ClusterFormat, CommandEnded, exitCodes, present } from '../../output.ts'
import type { ClusterContext } from '../cluster-context.ts'
import { serviceKinds } from '../services/service-kinds.ts'
import { gatherFacts } from './gather.ts'
import type { Mark } from './step.ts'
import { type Walk, type WalkedStep, walk } from './walk.ts'

const marks: Readonly<Record<Mark, string>> = { ok: '✓', wrong: '✗', waiting: '…', open: '-' }
const explainable: readonly string[] = [
  applications,
  remoteSyncs,
  repositoryGrants,
  domainClaims,
  ...serviceKinds.map(({ type }) => type),
  serviceBindings,
].map(({ kind }) => kind)

/** The text for people: a line for each step, then the verdict. */
export function explanation({ steps, first }: Walk, subject: string): string {
  const width = Math.max(...steps.map(({ step }) => step.length))
  const lines = steps.map(
    ({ step, mark, text }) => `${marks[mark]} ${step.padEnd(width)}  ${text.replaceAll('\n', `\n${' '.repeat(width + 4)}`)}`,
  )
  return [...lines, '', verdictOf(first, subject)].join('\n')
}

function verdictOf(first: WalkedStep | undefined, subject: string): string {
  if (first === undefined) return `nothing is wrong with ${subject}`
  const begins =
    first.mark === 'wrong' ? `${subject} stops at: ${first.step}` : `${subject} is on its way; it waits at: ${first.step}`
  const [line = ''] = first.text.split('\n')
  return first.cure === undefined ? `${begins}\n  ${line}` : `${begins}\n  ${line}\n  what to do: ${first.cure}`
}

/** Prints the steps. Ends with code 1 when one is wrong. */
export async function why(context: ClusterContext, options: { readonly output: ClusterFormat }, text: string): Promise<void> {
  const object = namedObject(text)
  const { kind } = object.type
  if (!explainable.includes(kind))
    throw new AppError(
      'invalid_request',
      `why explains ${explainable.map(one => one.toLowerCase()).join(', ')}, not ${kind.toLowerCase()}`,
    )
  const facts = await gatherFacts(context.cluster, context.clock, object)
  const walked = walk(facts)
  const subject = `${kind === domainClaims.kind ? 'domain' : kind.toLowerCase()}/${object.name}`
  const value = { object: subject, ok: walked.first?.mark !== 'wrong', first: walked.first ?? null, steps: walked.steps }
  await present(context.terminal, options.output, { value, text: () => explanation(walked, subject) })
  if (walked.first?.mark === 'wrong') throw new CommandEnded(exitCodes.failed)
}
