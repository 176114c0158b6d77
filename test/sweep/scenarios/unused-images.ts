// An image that nothing names leaves the registry with both of its tags, and the cache of a RemoteSync that is gone, and the
// image of a preview that has ended a moment ago; the image of an Application stays.

import { application } from '../../../src/api/apps/application.ts'
import { waitUntil } from '../../../src/lib/waiting/wait-until.ts'
import type { PushedImage } from '../../../src/store/builds/image-records.ts'
import type { Environment } from '../environment/environment.ts'
import type { Scenario } from '../scenario.ts'
import { patience } from './waits.ts'

const day = 86_400_000
const unused = ['old-1', 'old-2', 'cache-old']

const repositoryOf = ({ namespace }: Environment, application = 'shop'): string => `apps/${namespace}/${application}`
const preview = 'shop-pr-1'

/** As a build records it, and as a first look that found nothing left it two days ago. */
async function push(environment: Environment, tag: string, commit: string, application = 'shop'): Promise<string> {
  const { fixture, namespace, store, registryHost: registry } = environment
  const repository = repositoryOf(environment, application)
  const reference = fixture.registry.publish(repository, commit, tag)
  const kind = tag.startsWith('cache-') ? 'Cache' : 'Image'
  const from = { owner: 'gone', buildId: crypto.randomUUID(), ofPreview: application === preview }
  const image: PushedImage = { registry, repository, tag, namespace, kind, ...from }
  await store.images.record([image], new Date(Date.now() + day))
  return reference.slice(reference.indexOf('@'))
}

const records = async (environment: Environment) => {
  const { registryHost: registry, store } = environment
  const of = (application: string) =>
    store.images.ofRepository({ registry, repository: repositoryOf(environment, application) }, 100)
  return [...(await of('shop')), ...(await of(preview))]
}

export const unusedImagesScenario: Scenario = {
  name: 'unused images: delete',
  // The deletion of images is not a controller; it runs in the process of the controllers.
  controllers: [],
  environment: { component: 'controllers', namespace: 'made', github: 'none', registry: 'proxied' },
  async act(environment) {
    const { registryHost: registry, store, fixture } = environment
    const repository = repositoryOf(environment)
    await push(environment, 'old-1', 'a'.repeat(40))
    await push(environment, 'old-2', 'a'.repeat(40))
    await push(environment, 'cache-old', 'b'.repeat(40))
    const digest = await push(environment, 'new-1', 'c'.repeat(40))
    await push(environment, 'pr-1', 'd'.repeat(40), preview)
    const image = `${registry}/${repository}${digest}`
    await environment.apply(application, 'shop', { spec: { image, suspend: true, processes: [{ name: 'web', port: 3000 }] } })
    const found = { lookAt: new Date(Date.now() - 1000), unusedSince: new Date(Date.now() - 2 * day) }
    await store.images.looked({ registry, repository }, [...unused, 'new-1'], found)
    await waitUntil(
      'the unused images are gone, and their records',
      async () => {
        const left = await records(environment)
        const settled = left.every(({ tag, unusedSince }) => tag === 'new-1' && unusedSince === undefined)
        const tags = [repository, repositoryOf(environment, preview)].flatMap(fixture.registry.tagsOf)
        return (left.length === 1 && settled && tags.length === 1) || undefined
      },
      patience,
    )
  },
  compares: [],
  async more(environment) {
    const left = await records(environment)
    return {
      tags: environment.fixture.registry.tagsOf(repositoryOf(environment)),
      records: left.map(({ tag, unusedSince, deletingSince }) => ({ tag, unusedSince, deletingSince })),
    }
  },
}
