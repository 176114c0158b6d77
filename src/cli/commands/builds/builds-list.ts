// `sekisho builds list`: the builds of a tenant, newest first, and those that wait for their turn.
import { textAt } from '../../../lib/json/json-value.ts'
import { json, type OutputFormat, table } from '../../output.ts'
import type { ClusterContext } from '../cluster-context.ts'
import { type Build, buildListOf, buildsPath } from './build-answers.ts'

type BuildsListOptions = {
  readonly remoteSync?: string
  readonly limit: string
  readonly output: OutputFormat
}

function row(build: Build, wide: boolean): readonly string[] {
  const outcome = textAt(build, 'outcome') ?? 'Running'
  const base = [build.name, build.remoteSync, build.commit.slice(0, 10), outcome, textAt(build, 'createdAt') ?? '']
  return wide ? [...base, textAt(build, 'endedAt') ?? '', String(build['attempt'] ?? ''), textAt(build, 'cause') ?? ''] : base
}

/** Prints them; `json` as the platform answers. */
export async function buildsList({ cluster, terminal, api }: ClusterContext, options: BuildsListOptions): Promise<void> {
  const query = new URLSearchParams({ limit: options.limit })
  if (options.remoteSync !== undefined) query.set('remoteSync', options.remoteSync)
  const answer = await (await api()).json(buildsPath(cluster.namespace), query)
  const { builds, queued } = buildListOf(answer)
  if (options.output === 'json') return terminal.result(json(answer))
  const wide = options.output === 'wide'
  const headers = ['BUILD', 'REMOTESYNC', 'COMMIT', 'OUTCOME', 'BEGAN', ...(wide ? ['ENDED', 'ATTEMPT', 'CAUSE'] : [])]
  for (const { remoteSync, message } of queued) terminal.say(`${remoteSync} waits: ${message}`)
  terminal.result(
    table(
      headers,
      builds.map(build => row(build, wide)),
    ),
  )
}
