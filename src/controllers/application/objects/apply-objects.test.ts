// The order of requests for an Application's objects: a new one costs one request, and an object of another owner is never changed.
import { expect, test } from 'vitest'
import type { Application } from '../../../api/apps/application.ts'
import type { KubeObject, ObjectKey, ResourceType } from '../../../api/resource.ts'
import type { Applied } from '../../../kube/client/client.ts'
import { KubeError } from '../../../kube/client/errors.ts'
import { desiredManifests, type Manifest } from '../desired.ts'
import { applyObjects } from './apply-objects.ts'

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
