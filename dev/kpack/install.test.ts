// The installer applies what is needed and nothing else. The cluster is a record of calls with scripted responses.
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { silentProgress } from '../cluster/progress.ts'
import { type InstallInputs, installBuilder, installKpack } from './install.ts'
import type { Kubectl } from './kubectl.ts'
import type { KubernetesObject } from './kubernetes-object.ts'

let folder = ''
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sekisho-kpack-'))
  const server = (name: string) =>
    `apiVersion: apps/v1\nkind: Deployment\nmetadata: { name: ${name} }\nspec: { template: { metadata: { labels: {} }, spec: { containers: [{}] } } }\n`
  await writeFile(join(folder, 'servers.yaml'), `${server('kpack-controller')}---\n${server('kpack-webhook')}`)
})
afterEach(() => rm(folder, { recursive: true, force: true }))

const images = { lifecycle: 'l', build: 'b', run: 'r', prepare: 'p', packages: 'k', node: 'n', python: 'y', static: 's' }

function inputs(change: Partial<InstallInputs> = {}): InstallInputs {
  return { releaseFolder: folder, version: '1', kpackImage: 'k', ...change }
}

const builder = { images, registry: 'registry:5000' }
/** The platform has made it. */
const credential: KubernetesObject = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'sekisho-registry-platform' } }

/** A cluster that stores what is applied and reports everything as ready at once. */
function createCluster(stored = new Map<string, KubernetesObject>()): {
  kubectl: Kubectl
  applied: string[]
  stored: Map<string, KubernetesObject>
} {
  stored.set('secret/sekisho-registry-platform', credential)
  const applied: string[] = []
  const key = (kind: string, name: string): string => `${kind.toLowerCase()}/${name}`
  const kubectl: Kubectl = {
    read: async names =>
      names.flatMap(word => {
        const [type = '', name = ''] = word.split('/')
        return stored.get(key(type.split('.')[0] ?? '', name)) ?? []
      }),
    apply: async objects => {
      for (const object of objects) {
        applied.push(key(object.kind, object.metadata.name))
        const conditions = ['Ready', 'Available'].map(type => ({ type, status: 'True' }))
        const status = { observedGeneration: 1, conditions, latestImage: 'registry:5000/cnb/builder@sha256:1' }
        stored.set(key(object.kind, object.metadata.name), { ...object, metadata: { ...object.metadata, generation: 1 }, status })
      }
    },
    run: async () => '',
    waitReady: names => kubectl.read(names),
  }
  return { kubectl, applied, stored }
}

test('kpack is installed, with its controller last, and then the builder', async () => {
  const { kubectl, applied } = createCluster()
  expect(await installKpack(inputs(), kubectl, silentProgress)).toEqual({ kpack: 'installed' })
  expect(applied).toEqual(['deployment/kpack-webhook', 'deployment/kpack-controller'])
  const result = await installBuilder(builder, kubectl, silentProgress)
  expect(result).toEqual({ builder: 'applied', builderImage: 'registry:5000/cnb/builder@sha256:1' })
  expect(applied.at(-1)).toBe('clusterbuilder/sekisho')
})

test('the same inputs apply nothing, a new image applies again', async () => {
  const { kubectl, applied } = createCluster()
  await installKpack(inputs(), kubectl, silentProgress)
  await installBuilder(builder, kubectl, silentProgress)
  const before = applied.length
  expect(await installKpack(inputs(), kubectl, silentProgress)).toEqual({ kpack: 'unchanged' })
  expect((await installBuilder(builder, kubectl, silentProgress)).builder).toBe('unchanged')
  expect(applied.length).toBe(before)
  expect(await installKpack(inputs({ kpackImage: 'k2' }), kubectl, silentProgress)).toEqual({ kpack: 'installed' })
  const changed = { ...builder, images: { ...images, node: 'n2' } }
  expect((await installBuilder(changed, kubectl, silentProgress)).builder).toBe('applied')
})

test('a kpack that was installed otherwise stays as it is', async () => {
  const foreign: KubernetesObject = {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'builds.kpack.io' },
  }
  const { kubectl, applied } = createCluster(new Map([['customresourcedefinition/builds.kpack.io', foreign]]))
  expect(await installKpack(inputs(), kubectl, silentProgress)).toEqual({ kpack: 'foreign' })
  expect(applied).toEqual([])
})

test('everything that kpack pulls or pushes for the builder uses the credential of the platform', async () => {
  const { kubectl, stored } = createCluster()
  await installBuilder(builder, kubectl, silentProgress)
  const reference = { name: 'kpack-builder', namespace: 'sekisho-system' }
  for (const name of [
    'clusterlifecycle/sekisho',
    'clusterstack/sekisho',
    'clusterbuildpack/sekisho-node',
    'clusterbuilder/sekisho',
  ])
    expect(stored.get(name)).toMatchObject({ spec: { serviceAccountRef: reference } })
  expect(stored.get('serviceaccount/kpack-builder')).toMatchObject({ secrets: [{ name: 'sekisho-registry-platform' }] })
})

test('waits again for a builder that is applied but not ready', async () => {
  const { kubectl, applied, stored } = createCluster()
  await installBuilder(builder, kubectl, silentProgress)
  const present = stored.get('clusterbuilder/sekisho')
  if (present) stored.set('clusterbuilder/sekisho', { ...present, status: { observedGeneration: 1, conditions: [] } })
  const before = applied.length
  await installBuilder(builder, kubectl, silentProgress)
  expect(applied.length).toBeGreaterThan(before)
})
