// `sekisho secrets set`: writes values into the AppSecret of an Application, and lets the Application use it. Values are never
// printed.
import type { AppSecret } from '../../../api/apps/app-secret.ts'
import { fieldManager, found } from '../../kubernetes/cluster.ts'
import { applications, appSecrets } from '../../kubernetes/kinds.ts'
import { type ClusterFormat, present } from '../../output.ts'
import { changeApplication } from '../application/change.ts'
import type { ClusterContext } from '../cluster-context.ts'
import { processSources, readValues, type ValueSources } from './read-values.ts'
import { restarts, taken, usersOf } from './stored.ts'

type Options = { readonly output: ClusterFormat; readonly attach?: boolean }

/** Stores the values, waits until the platform has taken them over, and attaches the AppSecret to the Application. */
export async function secretsSet(
  context: ClusterContext,
  options: Options,
  name: string,
  words: readonly string[],
): Promise<void> {
  await setFrom(processSources, context, options, { name, words })
}

type What = { readonly name: string; readonly words: readonly string[] }

/** As `secretsSet`, with the sources of values as a parameter. */
export async function setFrom(
  sources: ValueSources,
  context: ClusterContext,
  { output, attach = true }: Options,
  { name, words }: What,
): Promise<void> {
  const { terminal, cluster } = context
  const { values, inArguments } = await readValues(words, sources)
  // An AppSecret that belongs to no Application, such as one for builds, is made only when that was asked for: a name may be
  // misspelt.
  if (attach) await found(cluster, applications, name)
  const before = await cluster.client.get(appSecrets, { name, namespace: cluster.namespace })
  const after = await taken(context, await write(context, name, values))
  // Afterwards, so that the Application never names an AppSecret that does not exist.
  const attached = attach && (await attachTo(context, name))
  const keys = [...values.keys()]
  const changed = keys.filter(key => versionOf(before, key) !== versionOf(after, key))
  const users = await usersOf(cluster, name, changed)
  const restarted = changed.length > 0 || attached ? users : []
  const value = { appSecret: name, version: after.status?.version, set: keys, changed, attached, restarts: restarted }
  const text = (): string =>
    changed.length === 0 && !attached
      ? `${name}: ${keys.join(', ')} had ${keys.length === 1 ? 'this value' : 'these values'} already; nothing restarts`
      : `${name}: ${keys.join(', ')} set, version ${after.status?.version}; ${restarts(restarted)}`
  await present(terminal, output, { value, text })
  if (inArguments)
    terminal.say(
      'a value in an argument is in the history of your shell: KEY=- reads it from standard input, KEY=@file from a file',
    )
}

/** Admission encrypts the values before they are stored, and adds them to those that exist. */
function write(
  { cluster }: ClusterContext,
  name: string,
  values: ReadonlyMap<string, { reveal: () => string }>,
): Promise<AppSecret> {
  const { apiVersion, kind } = appSecrets
  const plain = Object.fromEntries([...values].map(([key, value]) => [key, value.reveal()]))
  const object = { apiVersion, kind, metadata: { name, namespace: cluster.namespace }, spec: { values: plain } }
  return cluster.client.apply(appSecrets, object, { fieldManager, force: true })
}

function versionOf(appSecret: AppSecret | undefined, key: string): number | undefined {
  return appSecret?.status?.keys?.find(({ name }) => name === key)?.version
}

/** True when the Application did not use the whole AppSecret before. */
async function attachTo({ cluster }: ClusterContext, name: string): Promise<boolean> {
  const { before, after } = await changeApplication(cluster, name, false, ({ spec }) => {
    const { envFrom = [] } = spec
    return envFrom.some(({ secret }) => secret === name) ? undefined : { envFrom: [...envFrom, { secret: name }] }
  })
  return before !== after
}
