// The way from the image to the first answer: chart, rollout, pods, Service, domain, Ingress, request. Pure.
import { type Application, applicationReasons as reasons } from '../../../api/apps/application.ts'
import { troubledPod } from '../../../api/pods/pod-problem.ts'
import { hasEnded, podState, processOf } from '../application/pods.ts'
import type { Facts, UrlAnswer } from './facts.ts'
import { timesText } from './phase-times.ts'
import { credentialSteps, ofServices, usedSteps } from './service-steps.ts'
import { conditionOf, fromCondition, type Judgement, observed, ok, open, type Step, waiting, wrong } from './step.ts'

const domainReasons: ReadonlySet<string> = new Set([reasons.domainTaken, reasons.domainReserved, reasons.domainNotProven])

const withoutImage: ReadonlySet<string> = new Set([reasons.waitingForImage, reasons.imageNotBuilt])

const ofApplication =
  (judge: (application: Application, facts: Facts) => Judgement | undefined) =>
  (facts: Facts): Judgement | undefined =>
    facts.application === undefined ? undefined : judge(facts.application, facts)

function imageStep({ metadata, spec }: Application, { remoteSync }: Facts): Judgement {
  if (spec.image !== undefined) return ok(spec.image)
  return remoteSync === undefined
    ? wrong(
        'spec.image is not set, and no RemoteSync builds it',
        `create a RemoteSync with application: ${metadata.name}, or run sekisho deploy ${metadata.name} --image …`,
      )
    : waiting(`RemoteSync ${remoteSync.metadata.name} has not built it yet: see the steps above`)
}

/** What a followed tag means, or why that is not known. Late: an Application runs on what the tag meant before. */
function tagStep(application: Application): Judgement | undefined {
  const condition = conditionOf(application, 'Following')
  if (application.spec.followTag !== true) return undefined
  // Whoever pinned a release wants this.
  return condition?.reason === reasons.pinned
    ? ok(condition.message)
    : fromCondition(condition, tagCures[condition?.reason ?? ''])
}

const tagCures: Readonly<Record<string, string>> = {
  [reasons.registryNotFollowed]: 'ask a platform admin, or name a digest in spec.image without spec.followTag',
  [reasons.tagUnreadable]: 'check that spec.image is right and that everybody may pull it; the platform asks again',
  [reasons.tooManyFollowed]: 'remove spec.followTag from an Application that need not follow',
}

function chartStep(application: Application): Judgement {
  const rendered = conditionOf(application, 'Rendered')
  if (rendered !== undefined && domainReasons.has(rendered.reason)) return open('waits for the domain')
  if (withoutImage.has(rendered?.reason ?? '')) return open('waits for the image')
  if (ofServices.has(rendered?.reason ?? '')) return open('waits for the services')
  if (tagCures[rendered?.reason ?? ''] !== undefined) return open('waits for the tag')
  return fromCondition(rendered, `kubectl describe application ${application.metadata.name} shows all of it`)
}

function domainStep(application: Application): Judgement | undefined {
  const about = application.status?.conditions?.find(({ status, reason }) => status === 'False' && domainReasons.has(reason))
  const cure =
    about?.reason === reasons.domainNotProven
      ? 'add the DNS record of the message; it is looked up again by itself'
      : 'choose another host name in spec.domains or spec.redirects, or ask a platform admin'
  if (about !== undefined) return wrong(`${about.reason}: ${about.message}`, cure)
  const { domains = [], redirects = [] } = application.spec
  const names = [...domains, ...redirects.map(({ from, to }) => `${from} (leads to ${to})`)]
  return names.length === 0 ? undefined : ok(names.join(', '))
}

function suspendStep({ metadata, spec }: Application): Judgement | undefined {
  return spec.suspend === true
    ? wrong(
        'spec.suspend is true: nothing runs',
        `kubectl patch application ${metadata.name} --type merge -p '{"spec":{"suspend":null}}' starts it again`,
      )
    : undefined
}

function releaseStep({ metadata, spec, status }: Application): Judgement | undefined {
  const { rollback, release, latestRelease } = status ?? {}
  if (spec.pinnedRelease !== undefined)
    return status?.conditions?.some(({ reason }) => reason === reasons.releaseNotFound) === true
      ? wrong(
          `release v${spec.pinnedRelease}, which is pinned, cannot run`,
          `sekisho releases ${metadata.name} shows those that can`,
        )
      : ok(`pinned to v${spec.pinnedRelease}: newer ones are not rolled out until sekisho rollback ${metadata.name} --resume`)
  if (rollback !== undefined)
    return wrong(
      `v${rollback.from} was not healthy, so v${rollback.to} runs again: ${rollback.reason}`,
      `correct the cause and deploy again; sekisho restart ${metadata.name} tries the same release once more`,
    )
  if (release === undefined && latestRelease === undefined) return undefined
  return release === latestRelease
    ? ok(`v${release} is the newest`)
    : waiting(`v${latestRelease} is being rolled out, ${release === undefined ? 'and none ran before' : `v${release} runs`}`)
}

function releaseJobStep({ status }: Application): Judgement | undefined {
  const job = status?.releaseJob
  if (job === undefined) return undefined
  if (job.state === 'Succeeded') return ok(`${job.name} succeeded`)
  return job.state === 'Running'
    ? waiting(`${job.name} runs`, `kubectl logs -f job/${job.name} shows what it writes`)
    : wrong(`${job.name}: ${job.message ?? job.state}`, 'correct the release job or what it needs, and deploy again')
}

function rolloutStep(application: Application, facts: Facts): Judgement {
  const { deployments, warnings } = facts
  if (deployments.length === 0) return open('nothing was rolled out yet')
  for (const { metadata, status } of deployments) {
    const failed = status?.conditions?.find(({ type, status: on }) => type === 'ReplicaFailure' && on === 'True')
    if (failed !== undefined)
      return wrong(
        `${metadata.name}: pods are refused: ${failed.message ?? failed.reason}`,
        'correct what the message names; kubectl describe resourcequota shows what is used up',
      )
  }
  const [warning] = warnings.filter(({ reason }) => reason === 'FailedCreate')
  const counts = deployments.map(({ metadata, spec, status }) => {
    const wanted = spec?.replicas ?? 1
    return { name: metadata.name, wanted, updated: status?.updatedReplicas ?? 0, ready: status?.readyReplicas ?? 0 }
  })
  const text = counts.map(({ name, wanted, ready }) => `${name} ${ready} of ${wanted}`).join(', ')
  if (counts.every(({ wanted, updated, ready }) => updated >= wanted && ready >= wanted)) return ok(text)
  if (warning !== undefined) return waiting(`${text}; last warning: ${warning.message ?? ''}`)
  // The pods say more, when they say anything.
  return isLate(facts) && podsStep(application, facts).mark !== 'wrong'
    ? wrong(`${text}: the pods do not become ready in time`, 'see the pods below')
    : waiting(text)
}

/** Whether Kubernetes has given up waiting. */
function isLate({ deployments }: Pick<Facts, 'deployments'>): boolean {
  return deployments.some(
    ({ status }) => status?.conditions?.some(({ reason }) => reason === 'ProgressDeadlineExceeded') === true,
  )
}

const unanswered: ReadonlySet<string> = new Set([reasons.notAnswering, reasons.notAnsweringYet])

function podsStep(application: Application, { pods, now }: Facts): Judgement {
  const { name } = application.metadata
  const running = pods.filter(pod => !hasEnded(pod) && pod.metadata.deletionTimestamp === undefined)
  const troubled = troubledPod(running, now)
  if (troubled !== undefined) return wrong(`${troubled.pod.metadata.name}: ${troubled.problem.cause}`, troubled.problem.cure)
  const states = running.map(pod => ({ pod, ...podState(pod) }))
  const unready = states.find(({ ready }) => !ready)
  if (states.length === 0) return open('no pod exists')
  if (unready === undefined) return ok(`${states.length} ready`)
  const process = processOf(unready.pod)
  // What the controller found out about the check, and whether it may still be slow to start.
  const ready = conditionOf(application, 'Ready')
  if (unanswered.has(ready?.reason ?? '')) return fromCondition(ready)
  return waiting(
    `${unready.pod.metadata.name}: ${unready.text}`,
    unready.text !== 'Running, not ready'
      ? `kubectl describe pod ${unready.pod.metadata.name} says what it waits for`
      : `the process must listen on its port (PORT) and answer its health check: sekisho logs ${name} ${process}`,
  )
}

const hasWeb = ({ spec, status }: Application): boolean =>
  status?.url !== undefined || (spec.processes ?? []).some(({ name, port }) => name === 'web' && port !== undefined)

function serviceStep(application: Application, { service, endpointSlices, deployments }: Facts): Judgement | undefined {
  if (!hasWeb(application)) return undefined
  if (service === undefined)
    return deployments.length === 0 ? open('not created yet') : wrong('there is no Service', 'report it to a platform admin')
  const ready = endpointSlices.flatMap(({ endpoints }) => endpoints ?? []).filter(({ conditions }) => conditions?.ready !== false)
  const addresses = ready.flatMap(endpoint => endpoint.addresses)
  if (addresses.length > 0) return ok(addresses.length === 1 ? '1 endpoint is ready' : `${addresses.length} endpoints are ready`)
  return deployments.some(({ metadata, spec }) => metadata.name.endsWith('-web') && spec?.replicas === 0)
    ? wrong('it has no endpoints: the process web runs with 0 replicas', `sekisho scale ${application.metadata.name} web=1`)
    : waiting('it has no ready endpoint: no pod of the process web is ready')
}

function ingressStep(application: Application, { ingress, deployments }: Facts): Judgement | undefined {
  if (!hasWeb(application)) return undefined
  const hosts = ingress?.spec?.rules?.flatMap(({ host }) => host ?? []) ?? []
  if (ingress !== undefined && hosts.length > 0) return ok(hosts.join(', '))
  return deployments.length === 0
    ? open('not created yet')
    : wrong('there is no Ingress with a host', 'report it to a platform admin')
}

function timesStep({ status }: Application, { remoteSync }: Facts): Judgement | undefined {
  const text = timesText(remoteSync?.status?.phases, status?.phases)
  return text === undefined ? undefined : ok(text)
}

const noPod: ReadonlySet<number> = new Set([502, 503, 504])

function requestStep(application: Application, facts: Facts): Judgement | undefined {
  const { metadata, status } = application
  const { answer } = facts
  const url = status?.url
  if (url === undefined || answer === undefined) return undefined
  const isStarting = podsStep(application, facts).mark === 'waiting'
  return isStarting && answer.kind === 'response' && noPod.has(answer.status)
    ? waiting(`GET ${url} answers ${answer.status} until the first pod is ready`)
    : judgeAnswer(answer, url, metadata.name)
}

function judgeAnswer(answer: UrlAnswer, url: string, application: string): Judgement {
  if (answer.kind === 'unresolved')
    return wrong(
      `${url}: this computer does not know ${answer.host}`,
      'the DNS record of the host must lead to the ingress of the platform; ask its operator for the address',
    )
  if (answer.kind === 'untrusted')
    return wrong(
      `${url}: its certificate is signed by an authority that this computer does not trust`,
      'ask the operator of the platform for its certificate authority, or set spec.tls',
    )
  if (answer.kind === 'unanswered')
    return wrong(`${url}: ${answer.text}`, 'check your network; other hosts of the platform show whether its ingress answers')
  const { status, milliseconds, noRoute } = answer
  const text = `GET ${url} answers ${status} in ${milliseconds} ms`
  if (noRoute)
    return wrong(`${text}: the ingress does not know the host`, 'wait some seconds; if it stays, report it to a platform admin')
  if (status >= 500)
    return wrong(
      text,
      noPod.has(status) ? 'no pod answers: see the pods above' : `the application fails: sekisho logs ${application} web`,
    )
  return status >= 400 ? ok(`${text}: the application itself answers so`) : ok(text)
}

/** Last: an Application answers without it. */
function autoscalingStep(application: Application): Judgement | undefined {
  const condition = conditionOf(application, 'Autoscaling')
  if (condition === undefined) return undefined
  return condition.status === 'Unknown' ? open(condition.message) : fromCondition(condition)
}

/** The host of the URL that a redirect leads to. */
function hostOf(location: string | undefined, base: string): string | undefined {
  return location !== undefined && URL.canParse(location, base) ? new URL(location, base).hostname : undefined
}

/** Last, too: the Application answers without it. */
function redirectStep(application: Application, { redirect }: Facts): Judgement | undefined {
  const condition = conditionOf(application, 'Redirecting')
  if (condition === undefined) return undefined
  if (condition.status === 'Unknown') return open(condition.message)
  if (condition.status === 'False' || redirect === undefined) return fromCondition(condition)
  const { to, url, answer } = redirect
  if (answer.kind !== 'response' || answer.noRoute) return judgeAnswer(answer, url, application.metadata.name)
  const { status, location } = answer
  const permanent = status === 301 || status === 308
  return permanent && hostOf(location, url) === to
    ? ok(`GET ${url} answers ${status} and leads to ${location}`)
    : wrong(
        `GET ${url} answers ${status}${location === undefined ? '' : ` and leads to ${location}`}, not a permanent redirect to ${to}`,
        'a platform admin compares SEKISHO_REDIRECT_ANNOTATIONS with what the ingress controller reads (docs/guide/install.md, section 6)',
      )
}

/** In the order in which a deployment passes them. */
export const runSteps: readonly Step[] = [
  { name: 'application', judge: facts => observed(facts.application, 'Application', facts.now) },
  { name: 'suspend', judge: ofApplication(suspendStep) },
  { name: 'image', judge: ofApplication(imageStep) },
  ...credentialSteps,
  { name: 'release job', judge: ofApplication(releaseJobStep) },
  { name: 'release', judge: ofApplication(releaseStep) },
  { name: 'domain', judge: ofApplication(domainStep) },
  { name: 'chart', judge: ofApplication(chartStep) },
  { name: 'rollout', judge: ofApplication(rolloutStep) },
  { name: 'pods', judge: ofApplication(podsStep) },
  ...usedSteps,
  { name: 'service', judge: ofApplication(serviceStep) },
  { name: 'ingress', judge: ofApplication(ingressStep) },
  { name: 'times', judge: ofApplication(timesStep) },
  { name: 'request', judge: ofApplication(requestStep) },
  { name: 'tag', judge: ofApplication(tagStep) },
  { name: 'autoscaling', judge: ofApplication(autoscalingStep) },
  { name: 'redirect', judge: ofApplication(redirectStep) },
]
