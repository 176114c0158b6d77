// `sekisho open`: the URL of an Application in the browser.
import { AppError } from '../../../lib/errors.ts'
import { hasDisplay } from '../../config.ts'
import { openBrowser } from '../../login/open-browser.ts'
import { type ClusterFormat, present } from '../../output.ts'
import type { ClusterContext } from '../cluster-context.ts'
import { namedOrOnly } from './only.ts'

type Options = { readonly output: ClusterFormat; readonly browser: boolean }

/** Prints the URL and opens it where there is a browser. Rejects with `not_found` for an Application without a URL. */
export async function open(context: ClusterContext, options: Options, name?: string): Promise<void> {
  const { metadata, status } = await namedOrOnly(context.cluster, name)
  const url = status?.url
  if (url === undefined)
    throw new AppError(
      'not_found',
      `${metadata.name} has no URL: only a process named web with a port has one; sekisho why application/${metadata.name} says more`,
    )
  // Only what a browser opens: the URL comes from the cluster.
  if (options.browser && options.output === 'table' && hasDisplay() && /^https?:\/\//.test(url)) openBrowser(url)
  await present(context.terminal, options.output, { value: { application: metadata.name, url }, text: () => url })
}
