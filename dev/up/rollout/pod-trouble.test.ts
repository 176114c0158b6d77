// What is said about pods that do not become ready: the words of the scheduler and the container runtime, and where the log is.
import { expect, test } from 'vitest'
import { defined } from '../../../src/lib/json/defined.ts'
import { type PodObject, troubleOf } from './pod-trouble.ts'

const pod = (status: PodObject['status']): PodObject => ({
  metadata: { name: 'broker-1' },
  ...defined({ status }),
})

test('a pod without a node says what the scheduler says', () => {
  const conditions = [{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message: 'pvc not bound' }]
  expect(troubleOf(pod({ phase: 'Pending', conditions }))).toEqual(['broker-1: Unschedulable: pvc not bound'])
})

test('an image that cannot be pulled is named', () => {
  const waiting = { reason: 'ImagePullBackOff', message: 'Back-off pulling image "r/x": 401' }
  expect(troubleOf(pod({ phase: 'Pending', containerStatuses: [{ name: 'broker', ready: false, state: { waiting } }] }))).toEqual(
    ['broker-1, container broker: ImagePullBackOff: Back-off pulling image "r/x": 401'],
  )
})

test('a container that ended, or that is not ready, is named with the command that shows its log', () => {
  const terminated = { exitCode: 78, reason: 'Error' }
  const [ended] = troubleOf(pod({ phase: 'Failed', containerStatuses: [{ name: 'a', ready: false, state: { terminated } }] }))
  expect(ended).toContain('exit code 78; kubectl logs broker-1 -c a -n sekisho-system')
  const [running] = troubleOf(pod({ phase: 'Running', containerStatuses: [{ name: 'a', ready: false, state: {} }] }))
  expect(running).toContain('runs and is not ready')
})

test('pods that are ready or done are not named', () => {
  expect(troubleOf(pod({ phase: 'Running', containerStatuses: [{ name: 'a', ready: true, state: {} }] }))).toEqual([])
  expect(troubleOf(pod({ phase: 'Succeeded' }))).toEqual([])
  expect(troubleOf(pod(undefined))).toEqual([])
})
