// What the container of the source store is given: nothing that is worth stealing.
import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { asObject, type JsonObject, objectAt, objectsAt, textAt } from '../../../lib/json/json-value.ts'
import { sourceStoreSettings } from './config.ts'

async function manifest(path: string): Promise<JsonObject> {
  const content: unknown = parse(await readFile(new URL(`../../../../deploy/${path}`, import.meta.url), 'utf8'))
  return asObject(content) ?? {}
}

async function operations(): Promise<readonly JsonObject[]> {
  const [patch] = objectsAt(await manifest('source-store/kustomization.yaml'), 'patches')
  return objectsAt({ operations: parse(textAt(patch, 'patch') ?? '') as unknown }, 'operations')
}

async function valueAt(path: string, name?: string): Promise<JsonObject> {
  const found = (await operations()).filter(operation => operation['path'] === path).map(({ value }) => asObject(value))
  const value = found.find(one => name === undefined || one?.['name'] === name)
  if (!value) throw new Error(`the component adds no ${name} at ${path}`)
  return value
}

test('the container mounts two empty folders, reads its own settings only, and has another user', async () => {
  const container = await valueAt('/spec/template/spec/containers/-')
  expect(objectsAt(container, 'volumeMounts').map(({ name }) => name)).toEqual(['source-orders', 'source-files'])
  for (const name of ['source-orders', 'source-files'])
    expect(await valueAt('/spec/template/spec/volumes/-', name)).toHaveProperty('emptyDir')
  const names = Object.values(sourceStoreSettings).map(({ name }) => name)
  expect(
    objectsAt(container, 'env')
      .map(({ name }) => name)
      .sort(),
  ).toEqual([...names].sort())
  expect(container['envFrom']).toBeUndefined()
  expect(JSON.stringify(container)).not.toMatch(/secret/i)
  expect(objectAt(container, 'securityContext')).toMatchObject({
    runAsUser: 65_533,
    runAsNonRoot: true,
    allowPrivilegeEscalation: false,
    readOnlyRootFilesystem: true,
    capabilities: { drop: ['ALL'] },
  })
})

test('the ServiceAccount’s token is mounted by name, into the container of the controllers alone', async () => {
  const automount = (await operations()).find(({ path }) => path === '/spec/template/spec/automountServiceAccountToken')
  expect(automount?.['value']).toBe(false)
  const mounts = (await operations()).filter(({ value }) => asObject(value)?.['name'] === 'service-account')
  expect(mounts.map(({ path }) => path)).toEqual([
    '/spec/template/spec/containers/0/volumeMounts/-',
    '/spec/template/spec/volumes/-',
  ])
})

test.each(['standalone', 'production'])('the form %s has the container', async form => {
  expect((await manifest(`${form}/kustomization.yaml`))['components']).toContain('../source-store')
})
