// Which nodes leave the processes of the node to one pod, from the configuration that their kubelets report.
import { expect, test } from 'vitest'
import { podPidsFact } from './pod-pids.ts'

const configurations: Readonly<Record<string, string>> = {
  limited: '{"kubeletconfig":{"podPidsLimit":4096,"maxPods":110}}',
  unlimited: '{"kubeletconfig":{"podPidsLimit":-1,"maxPods":110}}',
  generous: '{"kubeletconfig":{"podPidsLimit":1048576,"maxPods":110}}',
  strange: '{"kubeletconfig":{"podPidsLimit":"4096"}}',
}

const kubectl = {
  run: async ([, , path = '']: readonly string[]): Promise<string> => {
    const found = configurations[/^\/api\/v1\/nodes\/([^/]+)\/proxy\/configz$/.exec(path)?.[1] ?? '']
    return found ?? Promise.reject(new Error('Error from server (Forbidden): nodes/proxy'))
  },
}

test('nodes whose pods may use up its processes are named, and those that do not say', async () => {
  expect(await podPidsFact(kubectl, ['limited', 'unlimited', 'generous', 'strange', 'forbidden'])).toEqual({
    unlimited: ['unlimited', 'generous'],
    unknown: ['strange', 'forbidden'],
  })
})

test('of many nodes the first twenty are asked', async () => {
  const nodes = Array.from({ length: 25 }, (_, at) => (at < 20 ? 'limited' : `other-${at}`))
  expect(await podPidsFact(kubectl, nodes)).toEqual({ unlimited: [], unknown: nodes.slice(20) })
})
