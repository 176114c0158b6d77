// One test for each thing that can be wrong: the first step that `why` names, and its cure.
import { describe, expect, test } from 'vitest'
import { wakeAnnotation } from '../../../api/names.ts'
import type { Facts } from './facts.ts'
import { application, deployment, grant, healthy, installation, pipelineOwner, pod, sync } from './testing/facts.ts'
import { walk } from './walk.ts'
import { explanation } from './why.ts'

test('nothing is wrong: every step is passed, in the order of a push', () => {
  const { steps, first } = walk(healthy)
  expect(first).toBeUndefined()
  expect(steps.map(({ step }) => step)).toEqual([
    'platform',
    'installation',
    'webhook',
    'grant',
    'token',
    'commit',
    'queue',
    'fetch',
    'build',
    'image set',
    'application',
    'image',
    'chart',
    'rollout',
    'pods',
    'service',
    'ingress',
    'request',
  ])
  expect(explanation({ steps, first }, 'application/shop')).toMatch(
    /✓ request .* answers 200 in 12 ms\n\nnothing is wrong with application\/shop$/,
  )
})

test('the times from the webhook to available stand right before the request to the URL', () => {
  const phases = {
    signalledAt: '2026-11-22T11:59:00.000Z',
    resolvedAt: '2026-11-22T11:59:00.210Z',
    // In whole seconds: it can seem to be before what came before it.
    buildStartedAt: '2026-11-22T11:58:59Z',
    builtAt: '2026-11-22T11:59:28.040Z',
    availableAt: '2026-11-22T11:59:31.250Z',
  }
  const { steps, first } = walk({ ...healthy, remoteSync: sync({}, { status: { phases } }) })
  expect(first).toBeUndefined()
  expect(steps.slice(-2)).toEqual([
    {
      step: 'times',
      mark: 'ok',
      text: 'webhook 2026-11-22T11:59:00.000Z, commit +0.2 s, build started +0.0 s, built +28.0 s, available +31.3 s',
    },
    { step: 'request', mark: 'ok', text: 'GET http://shop.example answers 200 in 12 ms' },
  ])
})

test('without a RemoteSync the times are those of the newest release', () => {
  const phases = { release: 3, releasedAt: '2026-11-22T11:59:00.000Z', availableAt: '2026-11-22T11:59:04.000Z' }
  const own = { remoteSync: undefined, grant: undefined, installation: undefined }
  const { steps } = walk({ ...healthy, ...own, application: application({}, { status: { phases } }) })
  expect(steps.find(({ step }) => step === 'times')?.text).toBe('release 2026-11-22T11:59:00.000Z, available +4.0 s')
})

test.each(['GrantQuotaExceeded', 'GrantConflict'])('a RemoteSync that cannot have a grant of its own: %s', reason => {
  const { first } = walk({ ...healthy, grant: undefined, remoteSync: sync({ Resolved: `${reason}: delete what is not used` }) })
  expect(first).toMatchObject({ step: 'grant', mark: 'wrong', text: `${reason}: delete what is not used` })
})

test('an autoscaler without measurements is named last: the Application answers', () => {
  const scaled = (text: string) => walk({ ...healthy, application: application({ Autoscaling: text }) })
  const { steps, first } = scaled('MetricsMissing: the cluster has no metrics server')
  expect(steps.at(-1)?.step).toBe('autoscaling')
  expect(first).toMatchObject({ step: 'autoscaling', mark: 'wrong', text: 'MetricsMissing: the cluster has no metrics server' })
  expect(scaled('True').first).toBeUndefined()
})

describe('a host that is redirected', () => {
  const spec = { domains: ['shop.example'], redirects: [{ from: 'www.shop.example', to: 'shop.example' }] }
  const asked = (text: string, redirect?: Facts['redirect']) =>
    walk({
      ...healthy,
      subject: { kind: 'DomainClaim', name: 'www.shop.example' },
      addresses: ['192.0.2.1'],
      application: application({ Redirecting: text }, { spec }),
      redirect,
    })
  const answered = (status: number, location?: string, noRoute = false): Facts['redirect'] => ({
    to: 'shop.example',
    url: 'http://www.shop.example/',
    answer: { kind: 'response', status, milliseconds: 3, noRoute, location },
  })

  test('is walked to the Application that redirects it, and to the answer of the ingress', () => {
    const { steps, first } = asked('True', answered(308, 'http://shop.example/'))
    expect(first).toBeUndefined()
    expect(steps.slice(0, 2)).toEqual([
      { step: 'named', mark: 'ok', text: 'Application shop redirects it to shop.example' },
      { step: 'dns', mark: 'ok', text: 'www.shop.example leads to 192.0.2.1' },
    ])
    expect(steps.find(({ step }) => step === 'domain')?.text).toBe('shop.example, www.shop.example (leads to shop.example)')
    expect(steps.at(-1)).toEqual({
      step: 'redirect',
      mark: 'ok',
      text: 'GET http://www.shop.example/ answers 308 and leads to http://shop.example/',
    })
  })

  test.each<[string, Facts['redirect'], RegExp, RegExp]>([
    [
      'the Application answers itself',
      answered(200),
      /answers 200, not a permanent redirect to shop\.example/,
      /SEKISHO_REDIRECT_ANNOTATIONS/,
    ],
    ['it leads elsewhere', answered(301, 'https://other.example/'), /leads to https:\/\/other\.example\//, /platform admin/],
    ['it leads there for now only', answered(302, 'http://shop.example/'), /answers 302/, /platform admin/],
    ['the ingress does not know it', answered(404, undefined, true), /does not know the host/, /wait some seconds/],
    [
      'its name does not resolve',
      { to: 'shop.example', url: 'http://www.shop.example/', answer: { kind: 'unresolved', host: 'www.shop.example' } },
      /does not know www\.shop\.example/,
      /DNS record/,
    ],
  ])('%s', (_what, redirect, text, cure) => {
    expect(asked('True', redirect).first).toMatchObject({
      step: 'redirect',
      mark: 'wrong',
      text: expect.stringMatching(text),
      cure: expect.stringMatching(cure),
    })
  })

  test('is named last when the platform is not configured for it: everything else runs', () => {
    const { steps, first } = asked('RedirectNotSupported: a platform admin sets SEKISHO_REDIRECT_ANNOTATIONS')
    expect(steps.at(-1)?.step).toBe('redirect')
    expect(first).toMatchObject({
      step: 'redirect',
      mark: 'wrong',
      text: expect.stringContaining('SEKISHO_REDIRECT_ANNOTATIONS'),
    })
  })
})

test('a registry that cannot be asked about a followed tag is named when nothing else is wrong', () => {
  const following = (text: string, more: Record<string, string> = {}) => {
    const found = application({ Following: text, ...more })
    return walk({ ...healthy, application: { ...found, spec: { ...found.spec, followTag: true } } })
  }
  const text = 'TagUnreadable: the registry ghcr.io answered 503'
  expect(following(text).first).toMatchObject({ step: 'tag', mark: 'wrong', text, cure: expect.stringContaining('asks again') })
  expect(following('RegistryNotFollowed: none').first?.cure).toContain('ask a platform admin')
  expect(following('Pinned: it is not asked').first).toBeUndefined()
  expect(following('True').steps.at(-1)).toMatchObject({ step: 'tag', mark: 'ok' })
  expect(following(text, { Rendered: text, Ready: text }).steps.find(({ step }) => step === 'chart')).toMatchObject({
    mark: 'open',
    text: 'waits for the tag',
  })
})

const waits = (stage: string) => `${stage}: waits for ${stage}`

type Case = readonly [name: string, facts: Partial<Facts>, step: string, mark: 'wrong' | 'waiting', text: RegExp, cure?: RegExp]
const cases: readonly Case[] = [
  [
    'the platform does not act',
    {
      remoteSync: sync(
        {},
        { status: { observedGeneration: 0, conditions: [] }, metadata: { creationTimestamp: '2026-11-22T11:00:00Z' } },
      ),
    },
    'platform',
    'wrong',
    /has not been looked at/,
    /platform admin/,
  ],
  [
    'a change was made just now',
    { remoteSync: sync({}, { metadata: { generation: 2 } }) },
    'platform',
    'waiting',
    /generation 2/,
  ],
  [
    'no Installation of that name',
    { installation: undefined },
    'installation',
    'wrong',
    /no Installation acme/,
    /kubectl get installations/,
  ],
  [
    'the App was suspended',
    { installation: installation({ Ready: 'InstallationSuspended: suspended' }) },
    'installation',
    'wrong',
    /InstallationSuspended/,
    /an owner of the GitHub organization/,
  ],
  [
    'a webhook has just come',
    { remoteSync: sync({}, { metadata: { annotations: { [wakeAnnotation]: '9' } } }) },
    'webhook',
    'waiting',
    /being looked up/,
  ],
  ['the grant is not made yet', { grant: undefined }, 'grant', 'waiting', /has not made the RepositoryGrant/],
  [
    'the person has left',
    { grant: grant({ Approved: 'RequesterLacksAccess: dave does not have read access to acme/shop' }) },
    'grant',
    'wrong',
    /RequesterLacksAccess: dave/,
    /sekisho transfer remotesync\/shop/,
  ],
  [
    'the person has left, and GitHub has named the login',
    {
      grant: grant(
        { Approved: 'RequesterLacksAccess: dave does not have read access to acme/shop' },
        { requester: { login: 'dave' } },
      ),
    },
    'grant',
    'wrong',
    /RequesterLacksAccess/,
    /in the name of dave \(github\|github\.com\|7\): that person/,
  ],
  [
    'the person of a preview has left',
    {
      remoteSync: sync({}, { metadata: { name: 'shop-pr-7', ownerReferences: [pipelineOwner] } }),
      grant: grant({ Approved: 'RequesterLacksAccess: dave does not have read access to acme/shop' }),
    },
    'grant',
    'wrong',
    /RequesterLacksAccess: dave/,
    /sekisho transfer apppipeline\/shop/,
  ],
  [
    'the grant has expired',
    { grant: grant({}, { expiresAt: '2026-11-22T11:00:00Z' }) },
    'grant',
    'wrong',
    /expired 3600 s ago/,
    /create it again/,
  ],
  [
    'GitHub does not answer',
    { remoteSync: sync({ Resolved: 'GitHubUnreachable: no answer' }) },
    'token',
    'wrong',
    /GitHubUnreachable/,
  ],
  [
    'the branch does not exist',
    { remoteSync: sync({ Resolved: 'BranchNotFound: no branch nope' }) },
    'commit',
    'wrong',
    /BranchNotFound: no branch nope/,
    /correct spec.source/,
  ],
  [
    'nobody approved the commit of a fork',
    { remoteSync: sync({ Resolved: 'ApprovalMissing: pull request 7 comes from a fork' }) },
    'commit',
    'wrong',
    /ApprovalMissing/,
    /approves it: sekisho previews list/,
  ],
  [
    'the pull request conflicts',
    { remoteSync: sync({ Resolved: 'MergeConflict: pull request 7 conflicts' }) },
    'commit',
    'wrong',
    /MergeConflict/,
    /resolve the conflict/,
  ],
  [
    'GitHub has not computed the merge',
    { remoteSync: sync({ Resolved: 'MergePending: not computed' }) },
    'commit',
    'waiting',
    /MergePending/,
  ],
  ['the source is too large', { remoteSync: sync({ Fetched: 'SourceTooLarge: 900 MB' }) }, 'fetch', 'wrong', /SourceTooLarge/],
  [
    'all slots are taken',
    { remoteSync: sync({ Fetched: 'Queued: 2 builds run', Built: waits('Fetched') }) },
    'queue',
    'waiting',
    /2 builds run/,
  ],
  [
    'the build failed',
    { remoteSync: sync({ Built: 'BuildFailed: package.json has no script start' }) },
    'build',
    'wrong',
    /no script start/,
    /correct the cause and push/,
  ],
  [
    'there is no builder',
    { remoteSync: sync({ Built: 'BuilderNotReady: there is no ClusterBuilder sekisho' }) },
    'build',
    'wrong',
    /no ClusterBuilder sekisho/,
    /platform admin corrects the cause/,
  ],
  ['the build runs', { remoteSync: sync({ Built: 'Building: step build' }) }, 'build', 'waiting', /Building/],
  [
    'the Application does not exist',
    { application: undefined },
    'image set',
    'wrong',
    /Application shop does not exist/,
    /create it/,
  ],
  [
    'one of several Applications does not exist',
    {
      application: undefined,
      remoteSync: sync(
        { Deployed: 'ApplicationNotFound: there is no Application worker' },
        { spec: { otherApplications: ['worker'] } },
      ),
    },
    'image set',
    'wrong',
    /there is no Application worker/,
    /create it/,
  ],
  [
    'another RemoteSync has the Application',
    { remoteSync: sync({ Deployed: 'ApplicationTaken: other' }) },
    'image set',
    'wrong',
    /ApplicationTaken/,
  ],
  [
    'nobody builds an image',
    {
      remoteSync: undefined,
      grant: undefined,
      installation: undefined,
      application: application({}, { spec: { image: undefined } }),
    },
    'image',
    'wrong',
    /no RemoteSync builds it/,
    /sekisho deploy shop --image/,
  ],
  [
    'it is suspended',
    { application: application({}, { spec: { suspend: true } }) },
    'suspend',
    'wrong',
    /nothing runs/,
    /kubectl patch application shop/,
  ],
  [
    'the release job failed',
    { application: application({}, { status: { releaseJob: { name: 'shop-v2', state: 'Failed', message: 'no table' } } }) },
    'release job',
    'wrong',
    /shop-v2: no table/,
    /deploy again/,
  ],
  [
    'the release job runs',
    { application: application({}, { status: { releaseJob: { name: 'shop-v2', state: 'Running' } } }) },
    'release job',
    'waiting',
    /shop-v2 runs/,
  ],
  [
    'the release was rolled back',
    {
      application: application({}, { status: { release: 1, latestRelease: 2, rollback: { from: 2, to: 1, reason: 'crashes' } } }),
    },
    'release',
    'wrong',
    /v2 was not healthy, so v1 runs again: crashes/,
    /sekisho restart shop/,
  ],
  [
    'the domain is not proved',
    { application: application({ Rendered: 'DomainNotProven: add TXT _sekisho', Ready: 'DomainNotProven: add TXT _sekisho' }) },
    'domain',
    'wrong',
    /add TXT _sekisho/,
    /add the DNS record/,
  ],
  [
    'the domain is taken',
    { application: application({ Rendered: 'DomainTaken: by globex' }) },
    'domain',
    'wrong',
    /DomainTaken/,
    /another host name/,
  ],
  [
    'the chart throws',
    { application: application({ Rendered: 'ChartFailed: TypeError' }) },
    'chart',
    'wrong',
    /TypeError/,
    /kubectl describe application shop/,
  ],
  [
    'the quota is used up',
    {
      deployments: [
        deployment({
          status: { readyReplicas: 0, conditions: [{ type: 'ReplicaFailure', status: 'True', message: 'exceeded quota' }] },
        }),
      ],
    },
    'rollout',
    'wrong',
    /exceeded quota/,
    /resourcequota/,
  ],
  [
    'pods are starting',
    {
      deployments: [deployment({ status: { readyReplicas: 0 } })],
      pods: [pod({ waiting: { reason: 'ContainerCreating' } }, false)],
    },
    'rollout',
    'waiting',
    /0 of 1/,
  ],
  [
    'the image cannot be pulled',
    { pods: [pod({ waiting: { reason: 'ImagePullBackOff', message: 'not found' } }, false)] },
    'pods',
    'wrong',
    /cannot be pulled \(not found\)/,
    /check spec.image/,
  ],
  [
    'it crashes',
    { pods: [pod({ waiting: { reason: 'CrashLoopBackOff' } }, false, { lastState: { terminated: { exitCode: 3 } } })] },
    'pods',
    'wrong',
    /web exits with code 3/,
    /kubectl logs -n acme shop-web-1 -c web --previous/,
  ],
  [
    'it needs more memory',
    { pods: [pod({ terminated: { exitCode: 137, reason: 'OOMKilled' } }, false)] },
    'pods',
    'wrong',
    /ran out of memory/,
    /raise its memory/,
  ],
  [
    'a secret is missing',
    { pods: [pod({ waiting: { reason: 'CreateContainerConfigError', message: 'secret "appsecret-shop" not found' } }, false)] },
    'pods',
    'wrong',
    /there is no AppSecret shop/,
    /create it/,
  ],
  [
    'nobody listens on the port',
    { pods: [pod({ running: {} }, false)] },
    'pods',
    'waiting',
    /Running, not ready/,
    /PORT.*sekisho logs shop web/,
  ],
  [
    'no pods are wanted',
    { deployments: [deployment({ replicas: 0 })], pods: [], endpointSlices: [] },
    'service',
    'wrong',
    /0 replicas/,
    /sekisho scale shop web=1/,
  ],
  ['the Ingress is gone', { ingress: undefined }, 'ingress', 'wrong', /no Ingress/],
  [
    'the name is not in DNS',
    { answer: { kind: 'unresolved', host: 'shop.example' } },
    'request',
    'wrong',
    /does not know shop.example/,
    /DNS record/,
  ],
  [
    'the certificate is not trusted',
    { answer: { kind: 'untrusted', host: 'shop.example' } },
    'request',
    'wrong',
    /does not trust/,
    /certificate authority/,
  ],
  [
    'the ingress does not answer',
    { answer: { kind: 'unanswered', text: 'no answer: ECONNREFUSED' } },
    'request',
    'wrong',
    /ECONNREFUSED/,
  ],
  [
    'the ingress does not know the host',
    { answer: { kind: 'response', status: 404, milliseconds: 1, noRoute: true } },
    'request',
    'wrong',
    /does not know the host/,
  ],
  [
    'the application fails',
    { answer: { kind: 'response', status: 500, milliseconds: 1, noRoute: false } },
    'request',
    'wrong',
    /answers 500/,
    /sekisho logs shop web/,
  ],
  [
    'no pod answers',
    { answer: { kind: 'response', status: 503, milliseconds: 1, noRoute: false } },
    'request',
    'wrong',
    /answers 503/,
    /pods above/,
  ],
]

describe('the first thing that is wrong', () => {
  test.each(cases.map(one => ({ name: one[0], one })))('$name', ({ one: [, facts, step, mark, text, cure] }) => {
    const walked = walk({ ...healthy, ...facts })
    expect(walked.first).toMatchObject({ step, mark, text: expect.stringMatching(text) })
    if (cure !== undefined) expect(walked.first?.cure).toMatch(cure)
    expect(explanation(walked, 'application/shop')).toMatch(mark === 'wrong' ? `stops at: ${step}` : `it waits at: ${step}`)
  })
})

test('what is wrong comes before what waits, and a stage that was not reached is neither', () => {
  const { steps, first } = walk({
    ...healthy,
    remoteSync: sync({
      Resolved: 'BranchNotFound: no branch',
      Fetched: 'BranchNotFound: waits for Resolved',
      Built: 'BranchNotFound: waits for Resolved',
    }),
    deployments: [deployment({ status: { readyReplicas: 0 } })],
  })
  expect(first?.step).toBe('commit')
  expect(steps.find(({ step }) => step === 'build')?.mark).toBe('open')
  expect(steps.find(({ step }) => step === 'rollout')?.mark).toBe('waiting')
})

test('a 404 of the application itself is an answer', () => {
  const answer = { kind: 'response', status: 404, milliseconds: 3, noRoute: false } as const
  expect(walk({ ...healthy, answer }).first).toBeUndefined()
})

const domain = {
  subject: { kind: 'DomainClaim', name: 'shop.example' },
  remoteSync: undefined,
  grant: undefined,
  installation: undefined,
}

test.each([
  ['nobody names it', { application: undefined, addresses: ['10.0.0.9'] }, 'named', /spec.domains/],
  ['it is not in DNS', { addresses: [] }, 'dns', /add a record/],
])('a domain: %s', (_, facts, step, cure) => {
  expect(walk({ ...healthy, ...domain, ...facts }).first).toMatchObject({ step, cure: expect.stringMatching(cure) })
})

test('a domain that works has its own way', () => {
  expect(walk({ ...healthy, ...domain, addresses: ['10.0.0.9'] }).first).toBeUndefined()
})
