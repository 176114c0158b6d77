// What the program in a pod sees is what the Application has, whatever characters are in it.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Application } from '../../../api/apps/application.ts'
import { awkwardText, expand, seenIn } from '../../../api/pods/testing/kubelet-expansion.ts'
import { type JsonObject, objectAt, objectsAt } from '../../../lib/json/json-value.ts'
import type { ChartInput } from '../../../services/charts/chart-input.ts'
import { chart } from '../../../services/charts/web.ts'
import { desiredJob } from '../releases/release-job.ts'
import { desiredManifests } from './desired.ts'
import { literalInput } from './literal-input.ts'

const resources = { cpu: '50m', memory: '64Mi' }
const secrets = { SECRET: 'hunter2' }

function inputOf(value: string, words: string[]): ChartInput {
  const times = { periodSeconds: 1, timeoutSeconds: 1, failureThreshold: 1 }
  const probes = { liveness: { command: words, ...times } }
  return {
    name: 'shop',
    namespace: 'acme',
    image: 'shop@sha256:1',
    processes: [{ name: 'web', port: 3000, replicas: 1, command: words, args: words, probes, ...resources }],
    cron: [
      {
        name: 'nightly',
        schedule: '@daily',
        command: words,
        args: words,
        concurrency: 'Forbid',
        keepSucceeded: 1,
        keepFailed: 1,
        timeoutSeconds: 60,
        ...resources,
      },
    ],
    env: [
      { name: 'SECRET', from: { secret: { name: 'shop', key: 'SECRET' } } },
      { name: 'A', value },
    ],
    attributes: {},
    hosts: [],
    ingressClassName: 'traefik',
    tls: false,
  }
}

function containerOf(objects: readonly unknown[], kind: string, ...path: readonly string[]): JsonObject {
  const found = (objects as readonly JsonObject[]).find(object => object['kind'] === kind)
  const [container] = objectsAt(objectAt(found, ...path, 'template', 'spec'), 'containers')
  return container ?? expect.fail(`no container in the ${kind}`)
}

test('of processes, schedules, probes and release jobs', () => {
  const some = fc.tuple(awkwardText, fc.array(awkwardText, { minLength: 1, maxLength: 3 }))
  fc.assert(
    fc.property(some, ([value, words]) => {
      const rendered: unknown[] = JSON.parse(JSON.stringify(chart(literalInput(inputOf(value, words)))))
      const releaseJob = { command: words, args: words, timeoutSeconds: 60 }
      const metadata = { name: 'shop', namespace: 'acme', uid: 'uid-1' }
      const application = { metadata, spec: { chart: 'web', releaseJob } } as unknown as Application
      const desired = desiredManifests(application, rendered, { hosts: [], redirects: [] } as never)
      const job = desired.kind === 'wanted' ? desiredJob(application, 1, desired.manifests) : expect.fail(desired.message)
      const expected = { env: { ...secrets, A: value }, command: words, args: words }
      const web = containerOf(rendered, 'Deployment', 'spec')
      expect(seenIn(web, secrets)).toMatchObject(expected)
      expect(seenIn(containerOf(rendered, 'CronJob', 'spec', 'jobTemplate', 'spec'), secrets)).toMatchObject(expected)
      expect(seenIn(containerOf([job], 'Job', 'spec'), secrets)).toMatchObject(expected)
      const probe = objectAt(web, 'livenessProbe', 'exec') as { readonly command: readonly string[] } | undefined
      expect(probe?.command.map(word => expand(word, new Map([['A', value]])))).toEqual(words)
    }),
    { numRuns: 50 },
  )
})

test('an Application without such texts has the input that it had', () => {
  const input = inputOf('plain $HOME', ['sh', '-c', 'exec node server.js --port $PORT'])
  expect(literalInput(input)).toEqual(input)
})
