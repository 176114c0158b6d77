// The stage Deployed, and Ready: tells the Application image and commit, then follows its rollout. Writes two fields of an Application
// that exists, by its uid; it never makes one and never touches another field.
import { type Application, applicationReasons, application as applications } from '../../api/apps/application.ts'
import { isGone } from '../../kube/client/errors.ts'
import { findCondition } from '../../kube/object/conditions.ts'
import { reasons, type Stop, stop } from './progress.ts'
import { fieldManager, moment, phase, type Run } from './run.ts'

function notFound(run: Run): Stop {
  const { application } = run.remoteSync.spec
  return stop(
    'Deployed',
    reasons.applicationNotFound,
    `spec.application: there is no Application ${application} in this namespace: create it, a RemoteSync never does`,
  )
}

async function tell(run: Run, application: Application, image: string, commit: string): Promise<Application | Stop> {
  if (application.spec.image === image && application.spec.commit === commit) {
    if (run.draft.phases?.deployedAt === undefined) phase(run, { deployedAt: moment(run) })
    return application
  }
  const { name, namespace = '', uid = '' } = application.metadata
  const { apiVersion, kind } = applications
  try {
    const object = { apiVersion, kind, metadata: { name, namespace, uid }, spec: { image, commit } }
    const told = await run.deps.client.apply(applications, object, { fieldManager, force: true })
    phase(run, { deployedAt: moment(run) })
    return told
  } catch (error) {
    if (isGone(error)) return notFound(run)
    throw error
  }
}

function follow(run: Run, application: Application, image: string): Stop | undefined {
  const { status, metadata } = application
  const ready = findCondition(status?.conditions, 'Ready')
  const current = ready?.observedGeneration === metadata.generation
  if (current && ready?.status === 'True' && status?.image === image) {
    phase(run, { availableAt: status.availableAt ?? moment(run) })
    return undefined
  }
  if (!current || ready?.reason === applicationReasons.rollingOut || ready?.status !== 'False')
    return stop('Ready', reasons.rollingOut, `Application ${metadata.name} rolls out`)
  return stop('Ready', reasons.applicationNotReady, `Application ${metadata.name}: ${ready.reason}: ${ready.message}`)
}

export async function ensureDeployed(run: Run, image: string, commit: string): Promise<Stop | undefined> {
  const { application } = run.facts
  if (!application || application.metadata.deletionTimestamp !== undefined) return notFound(run)
  const told = await tell(run, application, image, commit)
  return 'stage' in told ? told : follow(run, told, image)
}
