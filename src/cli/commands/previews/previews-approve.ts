// `sekisho previews approve`: approves one commit of a pull request from a fork. The platform asks GitHub whether the person
// may; rights in the cluster do not count.
import { AppError } from '../../../lib/errors.ts'
import { asObject, textAt } from '../../../lib/json/json-value.ts'
import { json, type PlainFormat } from '../../output.ts'
import type { ClusterContext } from '../cluster-context.ts'

type Options = { readonly commit: string; readonly output: 'text' | Extract<PlainFormat, 'json'> }

/** The full id: of a shorter one another commit can be made. Throws `invalid_request` with what to do instead. */
export function fullCommit(text: string): string {
  if (/^[0-9a-f]{40}$/.test(text)) return text
  throw new AppError(
    'invalid_request',
    '--commit must be the full id of the commit, 40 characters in lower case: sekisho previews list shows it (a shorter one could be that of another commit)',
  )
}

/** Prints the name of the PreviewApproval. */
export async function previewsApprove(
  context: ClusterContext,
  options: Options,
  pipeline: string,
  number: string,
): Promise<void> {
  const { cluster, terminal, api } = context
  const headCommit = fullCommit(options.commit)
  const [namespace, name] = [cluster.namespace, pipeline].map(encodeURIComponent)
  const answer = await (await api()).post(`/api/v1/tenants/${namespace}/previews/${name}/${number}/approval`, { headCommit })
  if (options.output === 'json') return terminal.result(json(answer))
  const approval = textAt(asObject(answer), 'approval') ?? ''
  terminal.result(
    `commit ${headCommit} of pull request ${number} is approved (PreviewApproval ${approval}); a push needs another approval`,
  )
}
