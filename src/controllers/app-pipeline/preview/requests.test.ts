// What a preview counts with in the sum of all, and what is said about one that does not fit.
import { expect, test } from 'vitest'
import type { AppPipeline } from '../../../api/apps/app-pipeline.ts'
import { excessOf, requestsOf, requestsText } from './requests.ts'

type Template = AppPipeline['spec']['template']['application']

const process = (name: string, changes: object = {}) => ({ name, replicas: 1, cpu: '50m', memory: '256Mi', ...changes })
const autoscaling = { minReplicas: 1, maxReplicas: 4, cpuPercent: 80 }

test.each<[string, object, [number, number]]>([
  ['every process with its pods', { processes: [process('web'), process('worker', { replicas: 3 })] }, [200, 1024]],
  ['cores and gibibytes', { processes: [process('web', { cpu: '2', memory: '1Gi' })] }, [2000, 1024]],
  ['the most pods of autoscaling', { processes: [process('web', { replicas: 2, autoscaling })] }, [200, 1024]],
  ['the pods of web by spec.replicas', { processes: [process('web'), process('worker')], replicas: 2 }, [150, 768]],
  ['no pods', { processes: [process('web', { replicas: 0 })] }, [0, 0]],
  ['one pod of each schedule', { processes: [], cron: [process('tick', { cpu: '1' }), process('tock')] }, [1050, 512]],
  ['what the platform runs when nothing is said', {}, [50, 256]],
])('%s', (_what, template, [cpu, memory]) => {
  expect(requestsOf(template as Template)).toEqual({ cpu, memory })
})

test.each([
  [
    { cpu: 0, memory: 0 },
    { cpu: '0', memory: '0Mi' },
  ],
  [
    { cpu: 1500, memory: 1536 },
    { cpu: '1500m', memory: '1536Mi' },
  ],
  [
    { cpu: 2000, memory: 2048 },
    { cpu: '2', memory: '2Gi' },
  ],
])('%j is written as %j', (requests, text) => expect(requestsText(requests)).toEqual(text))

test('one that fits exactly has a place; of one that does not, the limit and the cure are named', () => {
  const taken = { cpu: 800, memory: 1024 }
  expect(excessOf({ cpu: '1', memory: '2Gi' }, taken, { cpu: 200, memory: 1024 })).toBeUndefined()
  expect(excessOf({ memory: '2Gi' }, taken, { cpu: 9000, memory: 1 })).toBeUndefined()
  expect(excessOf({ cpu: '1', memory: '2Gi' }, taken, { cpu: 201, memory: 1 })).toBe(
    'spec.limits.resources.cpu allows all previews together 1 of cpu; those of pull requests with newer activity leave less than the 201m of this one: raise it, or lower cpu or the number of pods in spec.template.application.processes',
  )
  expect(excessOf({ memory: '2Gi' }, { cpu: 0, memory: 0 }, { cpu: 1, memory: 3072 })).toMatch(
    /^one preview requests 3Gi of memory, and spec.limits.resources.memory allows 2Gi for all together: raise it/,
  )
})
