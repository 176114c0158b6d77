// `sekisho transfer`: the person who runs it becomes the one in whose name objects ask GitHub, when the one before left the
// team or the organisation. Whether that person has the access is checked on GitHub as for the one before.
import type { AppPipeline } from '../../../api/apps/app-pipeline.ts'
import type { RemoteSync } from '../../../api/apps/remote-sync.ts'
import { personText } from '../../../api/names.ts'
import { controllerOf } from '../../../kube/object/owner.ts'
import { AppError } from '../../../lib/errors.ts'
import { type Cluster, fieldManager, found } from '../../kubernetes/cluster.ts'
import { appPipelines, remoteSyncs, repositoryGrants } from '../../kubernetes/kinds.ts'
import { knownLogins } from '../../kubernetes/known-logins.ts'
import { type NamedObject, namedObject } from '../../kubernetes/named-object.ts'
import { whoIs } from '../../kubernetes/who-is.ts'
import { type ClusterFormat, present } from '../../output.ts'
import type { ClusterContext } from '../cluster-context.ts'

type Options = { readonly output: ClusterFormat; readonly dryRun?: boolean; readonly all?: boolean }

type Transfer = { readonly object: string; readonly from: string; readonly to: string }

type Followed = RemoteSync | AppPipeline

/** Resolves to the object. Rejects for one that acts in nobody's name, or in that of its owner, and names what to transfer. */
async function named(cluster: Cluster, { type, name }: NamedObject): Promise<Followed> {
  if (type.kind === remoteSyncs.kind) return own(await found(cluster, remoteSyncs, name))
  if (type.kind === appPipelines.kind) return await found(cluster, appPipelines, name)
  if (type.kind !== repositoryGrants.kind)
    throw new AppError('invalid_request', `a ${type.kind} acts in nobody's name: transfer the RemoteSync that builds its image`)
  const grant = await found(cluster, repositoryGrants, name)
  const owner = controllerOf(grant)
  throw new AppError(
    'invalid_request',
    owner === undefined
      ? `a RepositoryGrant never changes: delete it and create it again, which asks in your name (kubectl get repositorygrant ${name} -o yaml shows it)`
      : `RepositoryGrant ${name} belongs to ${owner.kind} ${owner.name}: sekisho transfer ${owner.kind.toLowerCase()}/${owner.name} takes over both`,
  )
}

/** The platform writes the RemoteSync of a preview, in the name of its AppPipeline's person. */
function own(sync: RemoteSync): RemoteSync {
  const owner = controllerOf(sync)
  if (owner?.kind !== appPipelines.kind) return sync
  const message = `RemoteSync ${sync.metadata.name} is of a preview: sekisho transfer apppipeline/${owner.name} takes over all of them`
  throw new AppError('invalid_request', message)
}

async function all({ client, namespace }: Cluster): Promise<readonly Followed[]> {
  const syncs = await client.list(remoteSyncs, { namespace })
  return [
    ...syncs.filter(sync => controllerOf(sync)?.kind !== appPipelines.kind),
    ...(await client.list(appPipelines, { namespace })),
  ]
}

/** Takes over the named objects; with `all`, every RemoteSync and AppPipeline of the namespace that acts for somebody else. */
export async function transfer(context: ClusterContext, options: Options, texts: readonly string[]): Promise<void> {
  const { cluster, terminal } = context
  if (texts.length === 0 && options.all !== true)
    throw new AppError('invalid_request', 'name what to take over, such as remotesync/shop, or use --all')
  const { user: to, login } = await whoIs(cluster)
  const chosen: Followed[] = []
  for (const text of texts) chosen.push(await named(cluster, namedObject(text)))
  if (options.all === true) chosen.splice(0, chosen.length, ...(await all(cluster)))
  // Before the change, with which the grants of the persons before end.
  const logins = await knownLogins(cluster)
  const value: Transfer[] = []
  for (const { kind, metadata, spec } of chosen.filter(one => one.spec.requestedBy !== to)) {
    const type = kind === appPipelines.kind ? appPipelines : remoteSyncs
    const key = { name: metadata.name, namespace: cluster.namespace }
    const dryRun = options.dryRun === true
    await cluster.client.mergePatch<Followed>(type, key, { spec: { requestedBy: to } }, { fieldManager, dryRun })
    value.push({ object: `${type.kind.toLowerCase()}/${metadata.name}`, from: spec.requestedBy, to })
  }
  const me = personText(to, login ?? logins.get(to))
  const suffix = options.dryRun === true ? ' (dry run)' : ''
  const text = (): string =>
    value.length === 0
      ? `nothing to take over: you are ${me}, and that is who asks`
      : value
          .map(({ object, from }) => {
            const former = personText(from, logins.get(from))
            return `${object} now asks GitHub in the name of ${me}, before: ${former}${suffix}`
          })
          .join('\n')
  await present(terminal, options.output, { value, text })
}
