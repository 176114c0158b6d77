// What exists because of previews: objects in the tenant's two namespaces, images in the registry, sources that builds may
// fetch, tokens, and what GitHub shows. When their pull requests are closed, nothing of it may be left.
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { credentialKey } from '../../../dev/github/tokens/formats.ts'
import { buildNamespaceOf } from '../../../src/api/names.ts'
import { readRecord } from '../../../src/services/builds/source-store/source-record.ts'
import { gitHubHost } from '../../platform/ground.ts'
import { repositoryName, type TenantOfWorld, tenants, type World } from './world.ts'

const apps = 'apis/apps.sekisho.dev/v1alpha1'

/** Every kind of object that a preview brings; paths below the namespace's. */
const ofTenant = [
  [apps, ['applications', 'remotesyncs', 'releases', 'githubreports', 'previewapprovals']],
  ['apis/apps/v1', ['deployments', 'replicasets', 'controllerrevisions']],
  ['apis/networking.k8s.io/v1', ['ingresses']],
  ['apis/policy/v1', ['poddisruptionbudgets']],
  ['apis/batch/v1', ['jobs']],
  ['api/v1', ['pods', 'services', 'configmaps', 'secrets', 'serviceaccounts', 'persistentvolumeclaims']],
  ['apis/discovery.k8s.io/v1', ['endpointslices']],
  ['apis/github.sekisho.dev/v1alpha1', ['repositorygrants']],
  ['apis/services.sekisho.dev/v1alpha1', ['serviceinstances', 'buckets', 'servicebindings']],
] as const
const ofBuilds = [
  ['apis/kpack.io/v1alpha2', ['builds']],
  ['api/v1', ['pods', 'secrets', 'configmaps']],
] as const

type List = { readonly items: readonly { readonly metadata: { readonly name: string } }[] }

async function namesIn({ platform }: World, path: string): Promise<readonly string[]> {
  const answer = await platform.admin.request('GET', path)
  if (answer.status === 404) return []
  return (answer.body as List).items.map(({ metadata }) => metadata.name)
}

/** All objects of these kinds in the namespaces of both tenants, as `<namespace> <plural>/<name>`. */
export async function objectsOf(world: World): Promise<readonly string[]> {
  const lists = (within: string, kinds: typeof ofTenant | typeof ofBuilds) =>
    kinds.flatMap(([group, plurals]) =>
      plurals.map(async plural => {
        const names = await namesIn(world, `/${group}/namespaces/${within}/${plural}`)
        return names.map(name => `${within} ${plural}/${name}`)
      }),
    )
  const ofBoth = tenants.flatMap(({ namespace }) => [
    ...lists(namespace, ofTenant),
    ...lists(buildNamespaceOf(namespace), ofBuilds),
  ])
  const found = await Promise.all(ofBoth)
  return found.flat()
}

/** Objects of the preview of this name. */
export async function objectsLeft(world: World, name: string): Promise<readonly string[]> {
  const theirs = new RegExp(`[-/]${name}($|[-.])`)
  return (await objectsOf(world)).filter(found => theirs.test(found))
}

/** Tags in the repository of a preview. */
export function imagesLeft({ registry }: World, namespace: string, name: string): readonly string[] {
  return registry.tagsOf(`apps/${namespace}/${name}`).map(tag => `image ${name}:${tag}`)
}

/** Every address at which a build can fetch the source of a commit. */
export async function sourcesLeft({ process }: World): Promise<readonly string[]> {
  const folder = join(process.dataFolder, 'sources')
  const records = await Promise.all((await readdir(folder)).map(name => readRecord(join(folder, name))))
  return records.flatMap(record => (record === undefined ? [] : [`source of build ${record.build}`]))
}

/** Comments of previews that are there twice, or do not say that the preview is gone. */
export function commentsLeft({ platform }: World): readonly string[] {
  const ours = platform.github.context.state.comments.filter(({ body }) => body.includes('**Preview'))
  const ofPull = Map.groupBy(ours, ({ repositoryId, number }) => `comment ${repositoryId}/${number}`)
  return [...ofPull].flatMap(([where, [first, ...others]]) => [
    ...(first?.body.includes(': destroyed**') ? [] : [where]),
    ...others.map(() => `${where}, again`),
  ])
}

/** Environments that GitHub still shows as active. */
export function deploymentsLeft({ platform }: World): readonly string[] {
  const { deployments, deploymentStatuses } = platform.github.context.state
  const last = new Map(deploymentStatuses.map(({ deploymentId, state }) => [deploymentId, state]))
  return deployments
    .filter(({ id }) => last.get(id) !== 'inactive')
    .map(({ id, environment }) => `deployment ${id} of ${environment}`)
}

/**
 * Tokens of the tenant's installation that are active on GitHub without a grant that exists, or that the registry does not
 * know.
 */
async function tokensLeftOf({ platform }: World, { namespace, organization }: TenantOfWorld): Promise<readonly string[]> {
  const { github, store, admin } = platform
  const [app] = github.context.state.apps
  const installed = github.context.state.installations.find(({ accountId }) => accountId === organization)
  if (app === undefined || installed === undefined) throw new Error(`the App is not installed at ${namespace}`)
  const live = await store.tokens.liveBy({ installation: { host: gitHubHost, appId: app.id, installationId: installed.id } })
  const grants = (await admin.call('GET', `/apis/github.sekisho.dev/v1alpha1/namespaces/${namespace}/repositorygrants`)) as {
    readonly items: readonly { readonly metadata: { readonly uid: string } }[]
  }
  const uids = new Set(grants.items.map(({ metadata }) => metadata.uid))
  const ofGrants = live.filter(({ grantUid }) => uids.has(grantUid)).map(({ token }) => credentialKey(token.reveal()))
  const allowed = new Set(ofGrants)
  return Object.entries(github.context.state.credentials.accessTokens).flatMap(([key, token]) => {
    const isTheirs = token.kind === 'installation' && token.installationId === installed.id && !allowed.has(key)
    return isTheirs ? [`token of ${namespace} for ${JSON.stringify(token.permissions)}`] : []
  })
}

export async function tokensLeft(world: World): Promise<readonly string[]> {
  return (await Promise.all(tenants.map(tenant => tokensLeftOf(world, tenant)))).flat()
}

/** Tags in the repositories of all previews of these repositories, by their indexes. */
export function allImages(
  world: World,
  pulls: readonly { readonly repository: number; readonly number: number }[],
): readonly string[] {
  return pulls.flatMap(({ repository, number }) =>
    imagesLeft(world, world.tenantOf(repository).namespace, `${repositoryName(repository)}-pr-${number}`),
  )
}
