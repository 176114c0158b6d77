// A process that has not become ready: in progress as long as Kubernetes waits for it, then wrong, with the cure that belongs
// to it.
import { expect, test } from 'vitest'
import type { Facts } from './facts.ts'
import { application, deployment, healthy, pod, sync } from './testing/facts.ts'
import { walk } from './walk.ts'

const said = 'process web runs, but nothing listens on port 3000: listen on 0.0.0.0'
const starting: Facts = {
  ...healthy,
  application: application({ Ready: `NotAnsweringYet: ${said}` }, { status: { latestRelease: 1 } }),
  deployments: [deployment({ status: { readyReplicas: 0 } })],
  pods: [pod({ running: {} }, false)],
  endpointSlices: [],
  answer: { kind: 'response', status: 503, milliseconds: 1, noRoute: false },
}
const late = { type: 'Progressing', status: 'False', reason: 'ProgressDeadlineExceeded' }

const stepOf = (facts: Facts, name: string) => walk(facts).steps.find(({ step }) => step === name)

test('nothing of a slow start is wrong, the answer of the URL included', () => {
  const { steps, first } = walk(starting)
  expect(steps.filter(({ mark }) => mark === 'wrong')).toEqual([])
  expect(first).toMatchObject({ mark: 'waiting' })
  expect(stepOf(starting, 'request')).toMatchObject({ mark: 'waiting', text: expect.stringContaining('503') })
  expect(stepOf(starting, 'pods')).toMatchObject({
    mark: 'waiting',
    text: expect.stringContaining('nothing listens on port 3000'),
  })
})

test('the first release has none before it', () => {
  expect(stepOf(starting, 'release')?.text).toBe('v1 is being rolled out, and none ran before')
  const next = application({}, { status: { latestRelease: 2, release: 1 } })
  expect(stepOf({ ...starting, application: next }, 'release')?.text).toBe('v2 is being rolled out, v1 runs')
})

test('what was not ready in time stops at its pods, with the words of the controller', () => {
  const facts = {
    ...starting,
    application: application({ Ready: `NotAnswering: ${said}` }),
    deployments: [deployment({ status: { readyReplicas: 0, conditions: [late] } })],
  }
  expect(walk(facts).first).toMatchObject({ step: 'pods', mark: 'wrong', text: expect.stringMatching(/NotAnswering.*port 3000/) })
  const unknown = { ...facts, application: application({ Ready: 'RolloutStalled: made no progress in time' }) }
  expect(walk(unknown).first).toMatchObject({ step: 'rollout', mark: 'wrong' })
})

test('an image that runs as root, or names its user, has the cure of that', () => {
  const pods = (message: string) => [pod({ waiting: { reason: 'CreateContainerConfigError', message } }, false)]
  expect(walk({ ...starting, pods: pods('image will run as root') }).first).toMatchObject({
    step: 'pods',
    text: expect.stringContaining('runs as root'),
    cure: expect.stringMatching(/spec\.restartedAt.*USER/),
  })
  const named = 'container has runAsNonRoot and image has non-numeric user (app), cannot verify user is non-root'
  expect(walk({ ...starting, pods: pods(named) }).first).toMatchObject({
    text: expect.stringContaining('is a name (app)'),
    cure: expect.stringContaining('USER 1000'),
  })
})

test('a first build that failed is where it stops, not the image that is missing because of it', () => {
  const failed = 'ImageNotBuilt: RemoteSync shop'
  const { first, steps } = walk({
    ...healthy,
    application: application({ Rendered: failed, Ready: failed }, { spec: { image: undefined } }),
    remoteSync: sync({ Built: 'BuildFailed: no start command', Deployed: 'BuildFailed: waits for Built' }),
  })
  expect(first).toMatchObject({ step: 'build', text: expect.stringContaining('no start command') })
  expect(steps.find(({ step }) => step === 'chart')).toMatchObject({ mark: 'open' })
})
