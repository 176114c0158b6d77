// The order of requests for an Application's objects: a new one costs one request, and an object of another owner is never
// changed.
import { expect, test } from 'vitest'
import type { Application } from '../../../api/apps/application.ts'
import type { KubeObject, ObjectKey, ResourceType } from '../../../api/resource.ts'
import type { Applied } from '../../../kube/client/client.ts'
import { KubeError } from '../../../kube/client/errors.ts'
import { desiredManifests, type Manifest } from '../rendering/desired.ts'
import { applyObjects, plantedClaim } from './apply-objects.ts'
import { entryOf, entryText } from './inventory.ts'

const application: Application = {
  apiVersion: 'apps.sekisho.dev/v1alpha1',
  kind: 'Application',
  metadata: { name: 'shop', namespace: 'acme', uid: 'uid-1' },
  spec: { chart: 'web', processes: [{ name: 'web', port: 1, replicas: 1, cpu: '1m', memory: '1Mi' }] },
}

function manifests(): readonly Manifest[] {
  const desired = desiredManifests(
    application,
    [{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' }, data: { x: '1' } }],
    { hosts: [], ingressClassName: 'traefik' },
  )
  if (desired.kind === 'refused') throw new Error(desired.message)
  return desired.manifests
}

/** A server with at most one object that treats versions and uids as the API server does. */
function serverWith(live: KubeObject | undefined) {
  const requests: string[] = []
  const answered = (object: Applied): KubeObject => ({
    ...object,
    metadata: { ...object.metadata, name: object.metadata.name, uid: 'made' },
  })
  return {
    requests,
    client: {
      get: async <T extends KubeObject>(_type: ResourceType<T>, key: ObjectKey) => {
        requests.push(`get ${key.name}`)
        return live as T | undefined
      },
      apply: async <T extends KubeObject>(_type: ResourceType<T>, object: Applied) => {
        requests.push(`${object.metadata.uid === undefined ? 'create' : 'change'} ${object.metadata.name}`)
        if (live && object.metadata.resourceVersion === '1') throw new KubeError('exists', { status: 409, reason: 'Conflict' })
        return answered(object) as T
      },
      applyStatus: async <T extends KubeObject>(_type: ResourceType<T>, object: Applied) => {
        requests.push(`status of ${object.metadata.name}`)
        return undefined
      },
      delete: async () => {
        requests.push('delete')
      },
    },
  }
}

const owned = (uid: string): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: {
    name: 'a',
    namespace: 'acme',
    uid: 'live',
    ownerReferences: [{ apiVersion: application.apiVersion, kind: 'Application', name: 'shop', uid, controller: true }],
  },
})

async function run(live: KubeObject | undefined, isNew: boolean) {
  const { client, requests } = serverWith(live)
  let asked = 0
  const assertCurrent = async (): Promise<void> => {
    asked += 1
  }
  const known = { children: new Map(), named: new Set(isNew ? [] : ['v1/ConfigMap/a']) }
  const { kind } = await applyObjects({ client, application, assertCurrent }, manifests(), known)
  return { kind, requests, asked }
}

test('an object that the inventory does not name is created by one request', async () => {
  expect(await run(undefined, true)).toEqual({ kind: 'applied', requests: ['create a'], asked: 0 })
})

test('an object that the inventory names and the cache lacks is read first', async () => {
  expect(await run(undefined, false)).toEqual({ kind: 'applied', requests: ['get a', 'create a'], asked: 0 })
})

test('a new name that is taken by an object of our own: it is changed, after the Application was read again', async () => {
  expect(await run(owned('uid-1'), true)).toEqual({ kind: 'applied', requests: ['create a', 'get a', 'change a'], asked: 1 })
})

test('an object of another owner is never changed', async () => {
  expect(await run(owned('uid-2'), true)).toEqual({ kind: 'refused', requests: ['create a', 'get a'], asked: 0 })
  expect(await run(owned('uid-2'), false)).toEqual({ kind: 'refused', requests: ['get a'], asked: 0 })
})

const volume = {
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: { name: 'shop-data', annotations: { 'sekisho.dev/when-deleted': 'Keep' } },
  spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
}
const labelled: KubeObject = {
  ...volume,
  metadata: { ...volume.metadata, namespace: 'acme', uid: 'planted', labels: { 'sekisho.dev/application': 'shop' } },
}

function volumeManifests(): readonly Manifest[] {
  const desired = desiredManifests(application, [volume], { hosts: [], ingressClassName: 'traefik' })
  if (desired.kind === 'refused') throw new Error(desired.message)
  return desired.manifests
}

test('a volume claim that looks like one that was kept, and that no status records, is refused before it is named, and never changed', async () => {
  const text = entryText(entryOf(labelled))
  const refusal = { reason: 'NameConflict', message: expect.stringContaining('PersistentVolumeClaim shop-data exists') }
  expect(plantedClaim(volumeManifests(), { children: new Map(), volumeClaims: new Set([text]) })).toEqual(refusal)
  expect(
    plantedClaim(volumeManifests(), { children: new Map([[text, labelled]]), volumeClaims: new Set([text]) }),
  ).toBeUndefined()
  const { client, requests } = serverWith(labelled)
  const known = { children: new Map(), named: new Set([text]) }
  const { kind } = await applyObjects({ client, application, assertCurrent: async () => {} }, volumeManifests(), known)
  expect({ kind, requests }).toEqual({ kind: 'refused', requests: ['get shop-data'] })
})

test('a volume claim that is to be kept is recorded in its own status when it is made', async () => {
  const { client, requests } = serverWith(undefined)
  const named = {
    ...application,
    status: { inventory: [{ apiVersion: 'v1', kind: 'PersistentVolumeClaim', name: 'shop-data' }] },
  }
  const target = { client, application: named, assertCurrent: async () => {} }
  await applyObjects(target, volumeManifests(), { children: new Map(), named: new Set() })
  expect(requests).toEqual(['create shop-data', 'status of shop-data'])
})
