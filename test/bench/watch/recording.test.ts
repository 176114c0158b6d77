// The replayed bytes have the format of the API server, and different objects are different.
import { expect, test } from 'vitest'
import type { Application } from '../../../src/api/apps/application.ts'
import { eventsBytes, firstVersion, listText } from './recording.ts'

type List = {
  readonly items: readonly Application[]
  readonly metadata: { readonly continue: string; readonly resourceVersion: string }
}
type Event = { readonly type: string; readonly object: Application }

function pages(objects: number, limit: number): readonly List[] {
  const all: List[] = []
  for (let from = 0; ; ) {
    const page = JSON.parse(listText({ from, limit, objects })) as List
    all.push(page)
    if (page.metadata.continue === '') return all
    from = Number(page.metadata.continue)
  }
}

test('pages contain every object once, with distinct names, uids and versions up to the version of the list', () => {
  const items = pages(1050, 500).flatMap(page => page.items)
  expect(items).toHaveLength(1050)
  expect(pages(1050, 500).map(page => page.items.length)).toEqual([500, 500, 50])
  const distinct = (value: (item: Application) => string | undefined): number => new Set(items.map(value)).size
  expect(distinct(({ metadata }) => `${metadata.namespace}/${metadata.name}`)).toBe(1050)
  expect(distinct(({ metadata }) => metadata.uid)).toBe(1050)
  expect(distinct(({ metadata }) => metadata.resourceVersion)).toBe(1050)
  expect(Math.max(...items.map(({ metadata }) => Number(metadata.resourceVersion)))).toBeLessThan(firstVersion)
})

test('an object has the fields of a real one: managed fields, status and conditions', () => {
  const [item] = pages(1, 500)[0]?.items ?? []
  expect(item?.metadata).toHaveProperty('managedFields')
  expect(item?.status?.conditions).toHaveLength(3)
  expect(item?.spec.processes).toHaveLength(1)
})

test('events change the listed objects in turn, each with the next version', () => {
  const listed = pages(3, 500)[0]?.items.map(({ metadata }) => metadata.uid)
  const lines = eventsBytes(3, 5).toString().trimEnd().split('\n')
  const events = lines.map(line => JSON.parse(line) as Event)
  expect(events.map(({ type }) => type)).toEqual(Array.from({ length: 5 }, () => 'MODIFIED'))
  expect(events.map(({ object }) => object.metadata.uid)).toEqual([0, 1, 2, 0, 1].map(index => listed?.[index]))
  expect(events.map(({ object }) => Number(object.metadata.resourceVersion))).toEqual([1, 2, 3, 4, 5].map(n => firstVersion + n))
})
