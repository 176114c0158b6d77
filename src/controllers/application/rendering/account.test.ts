// The pods of an Application that a grant names: under its ServiceAccount, with the files for the token desk; and what a chart
// must not name.
import { describe, expect, test } from 'vitest'
import { underDefaultAccount } from './account.ts'
import { podsIn, rendered, workloadsOf } from './testing/charted.ts'

const container = { name: 'main', volumeMounts: [{ name: 'tmp', mountPath: '/tmp' }] }
const pod = { automountServiceAccountToken: false, containers: [container], volumes: [{ name: 'tmp', emptyDir: {} }] }
const { deployment, job, cronJob } = workloadsOf(pod)
const account = 'sekisho-app-shop'

const under = {
  serviceAccountName: account,
  automountServiceAccountToken: false,
  volumes: [
    { name: 'tmp' },
    {
      name: 'sekisho-identity',
      projected: { sources: [{ serviceAccountToken: { audience: 'sekisho', path: 'token', expirationSeconds: 3600 } }] },
    },
    { name: 'sekisho-authority', configMap: { name: 'sekisho-ca' } },
  ],
  containers: [
    {
      volumeMounts: [
        { mountPath: '/tmp' },
        { name: 'sekisho-identity', mountPath: '/var/run/sekisho', readOnly: true },
        { name: 'sekisho-authority', mountPath: '/var/run/sekisho-ca', readOnly: true },
      ],
    },
  ],
}

describe('the pods of an Application that a grant names', () => {
  test('run under its ServiceAccount, which comes first, with the files for the token desk; those of a Job of a chart do not', () => {
    const desired = rendered([deployment(), cronJob, job], { account })
    expect(desired).toMatchObject({
      manifests: [
        {
          kind: 'ServiceAccount',
          metadata: { name: account, ownerReferences: [{ kind: 'Application', uid: 'uid-1', controller: true }] },
          automountServiceAccountToken: false,
        },
        { kind: 'Deployment' },
        { kind: 'Job' },
        { kind: 'CronJob' },
      ],
    })
    const pods = new Map(podsIn(desired))
    expect(pods.get('Deployment')).toMatchObject(under)
    expect(pods.get('CronJob')).toMatchObject(under)
    expect(pods.get('Job')).toEqual(pod)
  })

  test('have them in each container, once, whatever the chart named', () => {
    const authority = { name: 'ca', mountPath: '/var/run/sekisho-ca' }
    const spec = {
      ...pod,
      serviceAccountName: 'of-the-chart',
      serviceAccount: 'of-the-chart',
      containers: [{ ...container, volumeMounts: [authority] }, { name: 'side' }],
      initContainers: [{ name: 'init' }],
    }
    const [[, made] = []] = podsIn(rendered([deployment(spec)], { account }))
    expect(made).toMatchObject({ serviceAccountName: account, initContainers: [{ volumeMounts: [{}, {}] }] })
    expect(made).not.toHaveProperty('serviceAccount')
    expect(made?.['containers']).toMatchObject([
      { volumeMounts: [authority, { mountPath: '/var/run/sekisho' }] },
      { volumeMounts: [{}, {}] },
    ])
  })

  test('have the Secrets of grants with that delivery: as files in a folder for each grant, or to pull images', () => {
    const tokens = [
      { grant: 'images', secret: 'ghtok-sekisho-app-shop.images', pulls: true },
      { grant: 'read-shop', secret: 'ghtok-sekisho-app-shop.read-shop', pulls: false },
    ]
    const spec = { ...pod, imagePullSecrets: [{ name: 'own' }], initContainers: [{ name: 'init' }] }
    const made = new Map(podsIn(rendered([deployment(spec), cronJob, job], { account, tokens })))
    const mount = { name: 'sekisho-token-read-shop', mountPath: '/var/run/sekisho-tokens/read-shop', readOnly: true }
    const volume = {
      name: 'sekisho-token-read-shop',
      secret: { secretName: 'ghtok-sekisho-app-shop.read-shop', optional: true },
    }
    expect(made.get('Deployment')).toMatchObject({
      imagePullSecrets: [{ name: 'own' }, { name: 'ghtok-sekisho-app-shop.images' }],
      volumes: [{}, {}, {}, volume],
      containers: [{ volumeMounts: [{}, {}, {}, mount] }],
      initContainers: [{ volumeMounts: [{}, {}, mount] }],
    })
    expect(made.get('CronJob')).toMatchObject({ volumes: [{}, {}, {}, volume] })
    expect(made.get('Job')).toEqual(pod)
    expect(JSON.stringify(podsIn(rendered([deployment()], { tokens })))).not.toContain('ghtok-')
  })

  test('leave it for the default one, which the API server must be told; what names another one keeps that', () => {
    expect(underDefaultAccount(deployment())).toMatchObject({ spec: { template: { spec: { serviceAccountName: 'default' } } } })
    const own = deployment({ ...pod, serviceAccountName: 'of-the-chart' })
    expect(underDefaultAccount(own)).toEqual(own)
    expect(underDefaultAccount(job)).toEqual(job)
    expect(underDefaultAccount({ kind: 'Service', spec: {} })).toEqual({ kind: 'Service', spec: {} })
  })

  test('are as the chart rendered them without a grant', () => {
    expect(podsIn(rendered([deployment()], {}))).toEqual([['Deployment', pod]])
  })
})

describe('a chart is refused that', () => {
  test.each([
    ['names such an account', deployment({ ...pod, serviceAccountName: 'sekisho-app-other' })],
    ['names it in the old field', deployment({ ...pod, serviceAccount: 'sekisho-app-shop' })],
    [
      'renders one',
      { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: account }, automountServiceAccountToken: false },
    ],
    ['has a volume of that name', deployment({ ...pod, volumes: [{ name: 'sekisho-identity', emptyDir: {} }] })],
    ['has a volume of a token', deployment({ ...pod, volumes: [{ name: 'sekisho-token-read-shop', emptyDir: {} }] })],
  ])('%s, with a grant and without', (_what, object) => {
    for (const more of [{ account }, {}]) expect(rendered([object], more)).toMatchObject({ kind: 'refused' })
  })
})
