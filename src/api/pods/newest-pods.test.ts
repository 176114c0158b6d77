// Which pods count while a new version starts. Times of Kubernetes are whole seconds, so two pods often have the same.
import { describe, expect, test } from 'vitest'
import type { Pod } from '../builtin/index.ts'
import { labels } from '../names.ts'
import { newestPods } from './newest-pods.ts'

function pod(name: string, template: string, restartCount = 0, createdAt = '2026-01-01T00:00:00Z'): Pod {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name,
      namespace: 'acme',
      creationTimestamp: createdAt,
      labels: { [labels.process]: 'web', 'pod-template-hash': template },
    },
    status: { containerStatuses: [{ name: 'web', image: 'i:1', imageID: '', ready: false, restartCount }] },
  }
}

const namesOf = (pods: readonly Pod[]): readonly string[] => newestPods(pods).map(({ metadata }) => metadata.name)

describe('the newest pods', () => {
  test('a newer pod of another template replaces the older ones', () => {
    const [old, young] = [pod('old', 'a'), pod('young', 'b', 3, '2026-01-01T00:00:01Z')]
    expect(namesOf([old, young])).toEqual(['young'])
    expect(namesOf([young, old])).toEqual(['young'])
  })

  test('of two templates within one second the one that restarted less counts, in whatever order they are read', () => {
    const [crashed, young] = [pod('crashed', 'a', 2), pod('young', 'b')]
    expect(namesOf([crashed, young])).toEqual(['young'])
    expect(namesOf([young, crashed])).toEqual(['young'])
  })

  test('pods of one template stay together, in one order', () => {
    expect(namesOf([pod('b', 'a'), pod('a', 'a')])).toEqual(['a', 'b'])
    expect(namesOf([pod('a', 'a'), pod('b', 'a')])).toEqual(['a', 'b'])
  })
})
