// The installer applies what is needed and nothing else. The cluster is a record of calls with scripted responses.
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { silentProgress } from '../cluster/progress.ts'
import { type InstallInputs, installKpack } from './install.ts'
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

const images = { lifecycle: 'l', build: 'b', run: 'r', prepare: 'p', node: 'n' }

function inputs(change: Partial<InstallInputs> = {}): InstallInputs {
  return { releaseFolder: folder, version: '1', kpackImage: 'k', images, registry: 'registry:5000', ...change }
}

/** A cluster that stores what is applied and reports everything as ready at once. */
function createCluster(stored = new Map<string, KubernetesObject>()): {
  kubectl: Kubectl
  applied: string[]
  stored: Map<string, KubernetesObject>
} {
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

test('an empty cluster gets kpack first and its builder last', async () => {
  const { kubectl, applied } = createCluster()
  const result = await installKpack(inputs(), kubectl, silentProgress)
  expect(result).toEqual({ kpack: 'installed', builderImage: 'registry:5000/cnb/builder@sha256:1' })
  expect(applied[0]).toBe('deployment/kpack-controller')
  expect(applied.at(-1)).toBe('clusterbuilder/sekisho')
})

test('the same inputs apply nothing, a new image applies again', async () => {
  const { kubectl, applied } = createCluster()
  await installKpack(inputs(), kubectl, silentProgress)
  const before = applied.length
  expect((await installKpack(inputs(), kubectl, silentProgress)).kpack).toBe('unchanged')
  expect(applied.length).toBe(before)
  expect((await installKpack(inputs({ images: { ...images, node: 'n2' } }), kubectl, silentProgress)).kpack).toBe('installed')
})

test('a kpack that was installed otherwise stays as it is and gets the builder only', async () => {
  const foreign: KubernetesObject = {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'builds.kpack.io' },
  }
  const { kubectl, applied } = createCluster(new Map([['customresourcedefinition/builds.kpack.io', foreign]]))
  expect((await installKpack(inputs(), kubectl, silentProgress)).kpack).toBe('foreign')
  expect(applied).not.toContain('deployment/kpack-controller')
  expect(applied).toContain('clusterbuilder/sekisho')
})

test('waits again for a builder that is applied but not ready', async () => {
  const { kubectl, applied, stored } = createCluster()
  await installKpack(inputs(), kubectl, silentProgress)
  const builder = stored.get('clusterbuilder/sekisho')
  if (builder) stored.set('clusterbuilder/sekisho', { ...builder, status: { observedGeneration: 1, conditions: [] } })
  const before = applied.length
  await installKpack(inputs(), kubectl, silentProgress)
  expect(applied.length).toBeGreaterThan(before)
})
