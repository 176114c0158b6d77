// What exists of a preview: objects in the tenant's two namespaces, and tags in the registry. When its pull request is closed, both lists must be empty.
import { buildNamespaceOf } from '../../../src/api/names.ts'
import { acme, type World } from './world.ts'

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

/** Objects of the preview of this name, as `<plural>/<name>`. */
export async function objectsLeft(world: World, name: string): Promise<readonly string[]> {
  const theirs = new RegExp(`(^|-)${name}($|[-.])`)
  const isTheirs = (found: string): boolean => theirs.test(found)
  const lists = (namespace: string, kinds: typeof ofTenant | typeof ofBuilds) =>
    kinds.flatMap(([group, plurals]) => plurals.map(plural => [`/${group}/namespaces/${namespace}/${plural}`, plural] as const))
  const { namespace } = acme
  const found = await Promise.all(
    [...lists(namespace, ofTenant), ...lists(buildNamespaceOf(namespace), ofBuilds)].map(async ([path, plural]) =>
      (await namesIn(world, path)).filter(isTheirs).map(one => `${plural}/${one}`),
    ),
  )
  return found.flat()
}

/** Tags in the repository of a preview. */
export function imagesLeft({ registry }: World, name: string): readonly string[] {
  return registry.tagsOf(`apps/${acme.namespace}/${name}`).map(tag => `image ${name}:${tag}`)
}
