// `sekisho open`: the URL of an Application in the browser.
import type { Application } from '../../../api/apps/application.ts'
import { AppError } from '../../../lib/errors.ts'
import { hasDisplay } from '../../config.ts'
import { openBrowser } from '../../login/open-browser.ts'
import { type ClusterFormat, present } from '../../output.ts'
import type { ClusterContext } from '../cluster-context.ts'
import { namedOrOnly } from './only.ts'

type Options = { readonly output: ClusterFormat; readonly browser: boolean }

/** Prints the URL and opens it where there is a browser. Rejects with `not_found` for an Application without a URL. */
export async function open(context: ClusterContext, options: Options, name?: string): Promise<void> {
  const application = await namedOrOnly(context.cluster, name)
  const { metadata, status } = application
  const url = status?.url
  if (url === undefined) throw new AppError('not_found', withoutUrl(application))
  // Only what a browser opens: the URL comes from the cluster.
  if (options.browser && options.output === 'table' && hasDisplay() && /^https?:\/\//.test(url)) openBrowser(url)
  await present(context.terminal, options.output, { value: { application: metadata.name, url }, text: () => url })
}

/** Why there is no URL: nothing runs yet, or nothing is there to have one. Pure. */
export function withoutUrl({ metadata, spec, status }: Pick<Application, 'metadata' | 'spec' | 'status'>): string {
  const { name } = metadata
  const more = `sekisho why application/${name} says more`
  if (spec.image === undefined) return `${name} has no URL yet: it gets one with its first image; ${more}`
  const processes = spec.processes ?? status?.processes
  if (processes === undefined) return `${name} has no URL yet: its processes are not known yet; ${more}`
  const web = processes.find(process => process.name === 'web')
  if (web === undefined)
    return `${name} has no URL: only a process named web has one, and there ${processes.length === 1 ? 'is' : 'are'} ${processes.map(process => process.name).join(', ') || 'none'}`
  return `${name} has no URL yet: it gets one when it is rolled out, if its process web has a port; ${more}`
}
