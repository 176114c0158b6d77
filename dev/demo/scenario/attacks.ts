// Sixth part: globex, another tenant with ordinary rights, attacks acme and the platform in three of the ways that `make
// attack` tries, and each line names who stopped it. Every attempt is made by gary with kubectl or by a pod of globex, and
// stands beside one that must work.
import { limits } from '../../../src/lib/waiting/limits.ts'
import { waitUntil } from '../../../src/lib/waiting/wait-until.ts'
import { type DemoContext, neighbourNamespace, tenantNamespace } from '../context.ts'
import { expectThat, type Step } from '../steps.ts'
import { mustRun, type Result, run } from '../tools.ts'
import { deployNeighbour, joinNeighbour } from './neighbour.ts'

export function attackSteps(demo: DemoContext): readonly Step[] {
  const { gary } = demo.people
  const kubectl = (args: readonly string[], input?: string): Promise<Result> =>
    run(gary, demo.tools.kubectl, args, input === undefined ? {} : { input })
  let answers: Promise<Answers> | undefined
  return [
    {
      title: 'gary onboards globex, another tenant, and deploys a site of his own',
      run: async () => {
        await joinNeighbour(demo)
        return `image ${await deployNeighbour(demo)}`
      },
    },
    {
      title: 'attack: gary cannot divert connections to GitHub into a pod of globex by a Service with externalIPs',
      run: async () => {
        const { hostname } = new URL(demo.githubWeb)
        const result = await kubectl(['create', '--dry-run=server', '-f', '-'], JSON.stringify(interceptor(hostname)))
        return stoppedBy('admission', result, /ValidatingAdmissionPolicy|admission webhook|denied by admission/)
      },
    },
    {
      title: 'attack: a pod of globex can neither pull nor overwrite the image of acme, nor list what the registry has',
      run: async () => {
        answers = attack(demo)
        const { pull, push, catalog } = (await answers).registry
        for (const [what, outcome] of Object.entries({ pull, push, catalog }))
          expectThat(isRefused(outcome), `${what} from the pod is not refused: ${outcome}`)
        const outside = await pullWithoutCredential(await victimImage(demo))
        expectThat(isRefused(outside), `the registry itself does not refuse: ${outside}`)
        return `the pod: pull ${pull}, push ${push}, catalog ${catalog}; anybody who reaches the registry: ${outside}\nstopped by NetworkPolicies where there is no answer, and by the registry's credentials (401)`
      },
    },
    {
      title: 'attack: a pod of globex cannot connect to the application of acme or to the admission webhook',
      run: async () => {
        answers ??= attack(demo)
        const { desk, victim, admission } = (await answers).connections
        expectThat(desk === 'connected', `the pod cannot reach the token desk either, so its silence means nothing: ${desk}`)
        for (const [what, outcome] of Object.entries({ acme: victim, admission }))
          expectThat(['no answer', 'refused'].includes(outcome), `the connection to ${what} is not stopped: ${outcome}`)
        return `stopped by NetworkPolicies: acme ${victim}, admission ${admission} (token desk: ${desk})`
      },
    },
  ]
}

function stoppedBy(layer: string, { code, errors }: Result, pattern: RegExp): string {
  expectThat(code !== 0, 'it was not refused')
  expectThat(pattern.test(errors), `it failed for another reason than ${layer}: ${errors.slice(0, 300)}`)
  return `stopped by ${layer}: ${errors.replace(/\s+/g, ' ').trim().slice(0, 200)}`
}

/** A dry run: where it is not refused, nobody's connections are diverted. */
function interceptor(address: string): object {
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'interceptor', namespace: neighbourNamespace },
    spec: { selector: { app: 'catcher' }, externalIPs: [address], ports: [{ port: 4000, targetPort: 3000 }] },
  }
}

type Answers = {
  readonly registry: { readonly pull: string; readonly push: string; readonly catalog: string }
  readonly connections: { readonly desk: string; readonly victim: string; readonly admission: string }
}

/** 401 and 403 are the registry's refusals; where no connection is made, the network's. */
function isRefused(outcome: string): boolean {
  return ['401', '403', 'no answer'].includes(outcome)
}

function victimImage({ people, tools }: DemoContext): Promise<string> {
  const what = ['get', 'application/shop', '-n', tenantNamespace, '-o', 'jsonpath={.status.image}']
  return mustRun(people.dave, tools.kubectl, what)
}

/** As somebody outside of the cluster, whom no network policy stops. */
async function pullWithoutCredential(image: string): Promise<string> {
  const [name = '', digest = ''] = image.split('@')
  const [registry = '', ...path] = name.split('/')
  const answer = await fetch(`http://${registry}/v2/${path.join('/')}/manifests/${digest}`, { signal: AbortSignal.timeout(5000) })
  return String(answer.status)
}

const podName = 'demo-attacker'

const script = `
const { connect } = require('node:net')
const reach = (host, port) => new Promise(resolve => {
  const socket = connect({ host, port })
  const end = outcome => { socket.destroy(); resolve(outcome) }
  socket.setTimeout(2000, () => end('no answer'))
  socket.on('connect', () => end('connected'))
  socket.on('error', error => end(error.code === 'ECONNREFUSED' ? 'refused' : error.code))
})
// Policies of a new pod are in force a moment after it starts: silence means something once what is allowed has answered.
const allowed = async (host, port, until) => {
  for (;;) {
    const outcome = await reach(host, port)
    if (outcome === 'connected' || Date.now() > until) return outcome
    await new Promise(resolve => setTimeout(resolve, 200))
  }
}
const status = (method, path) => fetch('http://' + process.env.REGISTRY + '/v2/' + path, { method, signal: AbortSignal.timeout(2000) })
  .then(answer => String(answer.status), () => 'no answer')
;(async () => {
  const desk = await allowed('sekisho-token-desk.sekisho-system.svc', 443, Date.now() + 30000)
  const [repository, digest] = process.env.IMAGE.split('@')
  const image = repository.slice(process.env.REGISTRY.length + 1)
  console.log(JSON.stringify({
    registry: Object.fromEntries(await Promise.all(Object.entries({
      pull: status('GET', image + '/manifests/' + digest),
      push: status('POST', image + '/blobs/uploads/'),
      catalog: status('GET', '_catalog'),
    }).map(async ([name, outcome]) => [name, await outcome]))),
    connections: {
      desk,
      victim: await reach('shop.${tenantNamespace}.svc', 80),
      admission: await reach('sekisho-admission.sekisho-system.svc', 443),
    },
  }))
})().catch(error => { console.error(error); process.exit(1) })
`

/** Runs the attacker's pod to its end. */
async function attack(demo: DemoContext): Promise<Answers> {
  const { gary } = demo.people
  const kubectl = (args: readonly string[], input?: string): Promise<string> =>
    mustRun(gary, demo.tools.kubectl, args, input === undefined ? {} : { input })
  const image = await deployNeighbour(demo)
  const victim = await victimImage(demo)
  const forget = ['delete', `pod/${podName}`, '-n', neighbourNamespace, '--ignore-not-found']
  await kubectl([...forget, '--wait=true'])
  await kubectl(['create', '-f', '-'], JSON.stringify(attacker(image, victim)))
  const pod = ['-n', neighbourNamespace]
  const phase = await waitUntil(
    'the pod of globex to end',
    async () => {
      const now = await kubectl(['get', `pod/${podName}`, ...pod, '-o', 'jsonpath={.status.phase}'])
      return now === 'Succeeded' || now === 'Failed' ? now : undefined
    },
    { timeoutMilliseconds: limits.rollout },
  )
  const output = await kubectl(['logs', podName, ...pod])
  await kubectl([...forget, '--wait=false'])
  if (phase !== 'Succeeded') throw new Error(`the pod of globex failed: ${output}`)
  return JSON.parse(output)
}

function attacker(image: string, victim: string): object {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: podName, namespace: neighbourNamespace },
    spec: {
      restartPolicy: 'Never',
      automountServiceAccountToken: false,
      securityContext: { runAsNonRoot: true, runAsUser: 1001, seccompProfile: { type: 'RuntimeDefault' } },
      containers: [
        {
          name: 'attacker',
          image,
          command: ['/usr/local/bin/node', '-e', script],
          env: [
            { name: 'IMAGE', value: victim },
            { name: 'REGISTRY', value: victim.split('/')[0] },
          ],
          resources: { requests: { cpu: '50m', memory: '64Mi' }, limits: { memory: '128Mi' } },
          securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } },
        },
      ],
    },
  }
}
