// When a chart is rendered again, and when the kept manifests of an earlier reconcile are used.
import { expect, test } from 'vitest'
import type { Application } from '../../../api/apps/application.ts'
import type { ChartInput, ChartOutcome, ChartSource } from '../../../services/charts/chart-input.ts'
import type { RedirectGroup } from '../domains/redirects.ts'
import { createManifestSource } from './manifest-source.ts'

const webChart: ChartSource = { kind: 'built-in', name: 'web', revision: '1' }

function applicationOf(uid: string): Application {
  return {
    apiVersion: 'apps.sekisho.dev/v1alpha1',
    kind: 'Application',
    metadata: { name: 'shop', namespace: 'acme', uid },
    spec: { chart: 'web', processes: [{ name: 'web', port: 1, replicas: 1, cpu: '1m', memory: '1Mi' }] },
  }
}

function inputOf(image: string): ChartInput {
  return {
    ...{ name: 'shop', namespace: 'acme', image, processes: [], env: [], attributes: {} },
    ...{ hosts: [], ingressClassName: 'traefik', tls: false },
  }
}

/** Renders the image into a ConfigMap, so that a test sees which input the manifests come from. */
function sourceWith(outcomeOf: (objects: readonly unknown[]) => ChartOutcome) {
  let rendered = 0
  const source = createManifestSource({
    async render(_chart, { image }) {
      rendered += 1
      return outcomeOf([{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' }, data: { image } }])
    },
  })
  const ask = async (uid: string, image: string, chart = webChart, redirects: readonly RedirectGroup[] = []) => {
    const manifests = await source.of(applicationOf(uid), {
      source: chart,
      input: inputOf(image),
      redirects,
      timeoutMilliseconds: 1,
    })
    if (manifests.kind === 'refused') return manifests.message
    const [only] = manifests.manifests
    return { data: only?.['data'], owner: only?.metadata.ownerReferences?.[0]?.uid }
  }
  return { ask, rendered: () => rendered }
}

const short = (objects: readonly unknown[]): ChartOutcome => ({ kind: 'rendered', objects, length: 100 })

test('a second reconcile of the same Application costs no rendering', async () => {
  const { ask, rendered } = sourceWith(short)
  const first = await ask('one', 'a')
  expect(await ask('one', 'a')).toEqual(first)
  expect(rendered()).toBe(1)
})

test('another spec, another revision of the chart, another chart and another Application of the same name are rendered again', async () => {
  const { ask, rendered } = sourceWith(short)
  expect(await ask('one', 'a')).toEqual({ data: { image: 'a' }, owner: 'one' })
  expect(await ask('one', 'b')).toEqual({ data: { image: 'b' }, owner: 'one' })
  expect(await ask('two', 'b')).toEqual({ data: { image: 'b' }, owner: 'two' })
  expect(await ask('one', 'a')).toEqual({ data: { image: 'a' }, owner: 'one' })
  expect(rendered()).toBe(4)
  await ask('one', 'a', { ...webChart, revision: '2' })
  await ask('one', 'a', { ...webChart, name: 'other' })
  await ask('one', 'a', { kind: 'module', code: '', revision: '1' })
  expect(rendered()).toBe(7)
})

test('other redirects are not answered with the manifests that were kept', async () => {
  const { ask, rendered } = sourceWith(short)
  const redirects = (value: string) => [{ to: 'a.test', from: ['www.a.test'], annotations: { 'example.com/to': value } }]
  for (const value of ['a', 'a', 'b']) await ask('one', 'a', webChart, redirects(value))
  expect(rendered()).toBe(2)
})

test('a failed rendering is retried', async () => {
  const { ask, rendered } = sourceWith(() => ({ kind: 'failed', message: 'no such size' }))
  expect(await ask('one', 'a')).toMatch(/^ApplicationChart \w+: no such size$/)
  expect(await ask('one', 'a')).toMatch(/^ApplicationChart \w+: no such size$/)
  expect(rendered()).toBe(2)
})

test('a large rendering is not kept, and of many Applications only the last ones are', async () => {
  const large = sourceWith(objects => ({ kind: 'rendered', objects, length: 100_000 }))
  await large.ask('one', 'a')
  await large.ask('one', 'a')
  expect(large.rendered()).toBe(2)

  const { ask, rendered } = sourceWith(short)
  for (let number = 0; number < 300; number++) await ask(`uid-${number}`, 'a')
  await ask('uid-299', 'a')
  expect(rendered()).toBe(300)
  await ask('uid-0', 'a')
  expect(rendered()).toBe(301)
})
