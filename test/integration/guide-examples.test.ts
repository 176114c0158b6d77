// The YAML of README and docs/guide, as readers paste it: the API server accepts each object without an unknown field, and each
// part of an object in an object of the kind that it belongs to.
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { parseAllDocuments } from 'yaml'
import type { AdminClient } from '../../dev/cluster/control-plane/admin-client.ts'
import { cronJobs, deployments, pods, runtimeClasses, serviceAccounts } from '../../src/api/builtin/index.ts'
import { kinds, requesterKinds } from '../../src/api/registry.ts'
import type { ResourceType } from '../../src/api/resource.ts'
import { collectionPath } from '../../src/kube/client/resource-path.ts'
import { isJsonObject, type JsonObject } from '../../src/lib/json/json-value.ts'
import { testAdmin, withNamespace } from '../fixtures/harness.ts'

const repository = join(import.meta.dirname, '../..')
const requestedBy = 'github|github.com|1'
const apps = 'apps.sekisho.dev/v1alpha1'

/** Files of programs that are not the API server, and objects of others' kinds. */
const elsewhere: readonly string[] = [
  'AdmissionConfiguration',
  'AuthenticationConfiguration',
  'Config',
  'Kustomization',
  'Middleware',
]

const rbac = 'rbac.authorization.k8s.io/v1'
const accepted: readonly ResourceType[] = [
  ...kinds,
  pods,
  runtimeClasses,
  serviceAccounts,
  deployments,
  cronJobs,
  { apiVersion: rbac, kind: 'Role', plural: 'roles', namespaced: true },
  { apiVersion: rbac, kind: 'ClusterRole', plural: 'clusterroles', namespaced: false },
  { apiVersion: rbac, kind: 'ClusterRoleBinding', plural: 'clusterrolebindings', namespaced: false },
]

/** What a part of an object is pasted into. */
const whole: readonly JsonObject[] = [
  { apiVersion: apps, kind: 'Application', spec: { image: 'ghcr.io/acme/shop:v1' } },
  {
    apiVersion: apps,
    kind: 'RemoteSync',
    spec: { installation: 'github', repository: 'acme/shop', source: {}, build: {}, application: 'shop', requestedBy },
  },
  {
    apiVersion: apps,
    kind: 'AppPipeline',
    spec: {
      installation: 'github',
      repository: 'acme/shop',
      template: { application: { processes: [{ name: 'web', port: 3000 }] }, build: {} },
      requestedBy,
    },
  },
]

type Example = { readonly place: string; readonly content: JsonObject }

async function examples(): Promise<readonly Example[]> {
  const guides = (await readdir(join(repository, 'docs/guide'))).map(name => `docs/guide/${name}`)
  const found: Example[] = []
  for (const file of ['README.md', ...guides]) {
    const text = await readFile(join(repository, file), 'utf8')
    for (const { 1: block = '', index } of text.matchAll(/^```yaml\n(.*?)^```/gms)) {
      const place = `${file}:${text.slice(0, index).split('\n').length}`
      for (const document of parseAllDocuments(block)) {
        expect(document.errors, place).toEqual([])
        const content: unknown = document.toJS()
        if (!isJsonObject(content)) throw new Error(`${place} is not an object`)
        found.push({ place, content })
      }
    }
  }
  return found
}

function merged(base: JsonObject, more: JsonObject): JsonObject {
  const entries = Object.entries(more).map(([name, value]) => {
    const before = base[name]
    return [name, isJsonObject(value) && isJsonObject(before) ? merged(before, value) : value] as const
  })
  return { ...base, ...Object.fromEntries(entries) }
}

/** What the API server has against the object; undefined when it accepts it. */
async function refusal(admin: AdminClient, object: JsonObject, namespace: string): Promise<string | undefined> {
  const kind = object['kind']
  const type = accepted.find(one => one.kind === kind)
  if (type === undefined) throw new Error(`${kind} is not a kind that this test knows`)
  const place = type.namespaced ? namespace : undefined
  // The webhook fills it in.
  const filled = requesterKinds.some(one => one.kind.kind === kind) ? merged({ spec: { requestedBy } }, object) : object
  const { namespace: _, ...metadata } = merged({ name: 'example' }, isJsonObject(object['metadata']) ? object['metadata'] : {})
  const path = `${collectionPath(type, place)}?dryRun=All&fieldValidation=Strict`
  const { status, body } = await admin.request('POST', path, { ...filled, metadata: { ...metadata, namespace: place } })
  return status < 300 ? undefined : `${kind}: ${status} ${JSON.stringify(body)}`
}

async function refusalOfPart(admin: AdminClient, part: JsonObject, namespace: string): Promise<string | undefined> {
  const spec = isJsonObject(part['spec']) ? part['spec'] : part
  const refusals: string[] = []
  for (const object of whole) {
    const found = await refusal(admin, merged(object, { spec }), namespace)
    if (found === undefined) return undefined
    refusals.push(found)
  }
  return refusals.join('\n')
}

test('every example of the guides is accepted', async () => {
  const admin = await testAdmin()
  const { name: namespace } = await withNamespace()
  // That of the example of a pod.
  await admin.call('POST', `/api/v1/namespaces/${namespace}/serviceaccounts`, { metadata: { name: 'ci' } })
  const all = await examples()
  expect(all.length).toBeGreaterThan(20)
  const refused: string[] = []
  for (const { place, content } of all) {
    if (elsewhere.includes(String(content['kind']))) continue
    const found =
      content['kind'] === undefined ? await refusalOfPart(admin, content, namespace) : await refusal(admin, content, namespace)
    if (found !== undefined) refused.push(`${place}: ${found}`)
  }
  expect(refused).toEqual([])
})
