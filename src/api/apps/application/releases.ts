// The fields of an Application that are about its releases: what a rollout waits for, which release runs, how many are kept.
// Data only; a Release (release.ts) is the record of what ran.
import { defineReasons } from '../../reasons/reason.ts'
import { timestamp } from '../../schema/fields.ts'
import { choice, flag, integer, list, object, optional, text } from '../../schema/schema.ts'
import { maxReplicas } from './process-defaults.ts'

/** What holds for an Application that leaves the fields out. */
export const releaseDefaults = { rolloutSeconds: 300, kept: 20 } as const

const releaseNumber = (description: string) => integer({ description, min: 1, max: 2_147_483_647 })

/** A program that runs once, with the image and environment of the Application. */
export const jobFields = {
  command: list(text({ description: 'The program, or one of its arguments.', max: 1024 }), {
    description: 'The command, such as `["node", "migrate.js"]`.',
    min: 1,
    max: 64,
  }),
  args: optional(
    list(text({ description: 'One argument.', min: 0, max: 4096 }), { description: 'Arguments of the command.', max: 64 }),
  ),
  timeoutSeconds: integer({
    description: 'How long the job may take, in seconds. A job that takes longer is ended and counts as failed.',
    min: 10,
    max: 7200,
    default: 600,
  }),
}

/** The fields of `spec`. None of them is part of a release. */
export const releaseFields = {
  releaseJob: optional(
    object(
      {
        ...jobFields,
      },
      {
        description:
          'A job that runs once for each release, with its image and environment, before any process is changed: for example the migrations of a database. When it fails, the release is not rolled out and the earlier one keeps serving.',
      },
    ),
  ),
  rollout: optional(
    object(
      {
        timeoutSeconds: integer({
          description:
            'How long a release may take until all its processes are ready, in seconds. The time begins when Kubernetes has observed its Deployments.',
          min: 30,
          max: 3600,
          default: releaseDefaults.rolloutSeconds,
        }),
        whenUnhealthy: choice(['RollBack', 'Keep'], {
          description:
            'What happens with a release that is not ready in time or whose processes crash again and again: `RollBack` runs the last release that was ready, until the image or the spec changes; `Keep` leaves it as it is.',
          default: 'RollBack',
        }),
      },
      { description: 'When a rollout counts as failed, and what happens then. After 300 seconds, and `RollBack`, when omitted.' },
    ),
  ),
  pinnedRelease: optional(
    releaseNumber(
      'The number of the release that runs, whatever the rest of the spec says, until this field is removed. Replicas, domains and the values of secrets stay the present ones. `kubectl get releases` shows the numbers.',
    ),
  ),
  releasesKept: optional(
    integer({
      description:
        'How many releases are kept; 20 when omitted. The one that runs, a pinned one and the one to which a failed rollout goes back are kept in any case.',
      min: 2,
      max: 100,
    }),
  ),
  replicas: optional(
    integer({
      description:
        'The number of pods of the process `web`, in place of `processes[web].replicas`. `kubectl scale application` sets it. It has no effect on a process with `autoscaling`.',
      min: 0,
      max: maxReplicas,
    }),
  ),
  restartedAt: optional(
    timestamp(
      'A change of this time replaces all pods of the processes, one after the other. It also starts a new attempt when the newest release failed.',
    ),
  ),
}

/** The fields of `status`. */
export const releaseStatusFields = {
  release: optional(
    releaseNumber('The number of the release that runs. It changes when the rollout of another one is complete.'),
  ),
  latestRelease: optional(releaseNumber('The highest number that a release of this Application has had.')),
  releasedGeneration: optional(
    integer({
      description: 'The last `metadata.generation` at which the newest release was what the spec asks for.',
      min: 1,
      max: Number.MAX_SAFE_INTEGER,
    }),
  ),
  rollout: optional(
    object(
      {
        release: releaseNumber('The number of the release.'),
        startedAt: timestamp('When its objects were applied for the first time.'),
        delayed: optional(
          flag({
            description:
              'True when Kubernetes had not observed its Deployments within a minute, or a third of `spec.rollout.timeoutSeconds` when that is less: nothing is known about it until then.',
          }),
        ),
        observedAt: optional(
          timestamp(
            'When Kubernetes had observed all its Deployments, if it was delayed. The time of the rollout counts from then.',
          ),
        ),
        before: optional(releaseNumber('The release that ran before. It runs again when this one does not become ready.')),
      },
      { description: 'The release whose objects the cluster has, or is about to have.' },
    ),
  ),
  rollback: optional(
    object(
      {
        from: releaseNumber('The release that did not become ready.'),
        to: releaseNumber('The release that runs instead.'),
        reason: text({ description: 'What was wrong with the first one.', max: 2048 }),
        at: timestamp('When it was rolled back.'),
      },
      { description: 'Set while the newest release is not used because its rollout failed.' },
    ),
  ),
  releaseJob: optional(
    object(
      {
        release: releaseNumber('The release for which it ran.'),
        name: text({ description: 'The name of the Job.', max: 63 }),
        state: choice(['Running', 'Succeeded', 'Failed', 'TimedOut'], { description: 'How far it got.' }),
        startedAt: timestamp('When the Job was created.'),
        endedAt: optional(timestamp('When its end was observed.')),
        message: optional(text({ description: 'Why it failed, with the end of its log.', max: 2048 })),
      },
      { description: 'The last release job.' },
    ),
  ),
  phases: optional(
    object(
      {
        release: releaseNumber('The release that passed them.'),
        releasedAt: timestamp('When the release was made.'),
        jobStartedAt: optional(timestamp('When its release job was created.')),
        jobEndedAt: optional(timestamp('When the release job succeeded.')),
        appliedAt: optional(timestamp('When all its Kubernetes objects were applied.')),
        availableAt: optional(timestamp('When all its pods were ready.')),
      },
      { description: 'When the newest release passed each phase, in milliseconds.' },
    ),
  ),
  replicas: optional(
    integer({ description: 'The number of pods of the process `web` that run its newest template.', min: 0, max: 2_147_483_647 }),
  ),
}

/** Reasons of the condition Ready. */
export const releaseReasons = defineReasons({
  progress: {
    ReleaseJobRunning: 'The release job of the newest release runs. Until it has succeeded, the earlier release keeps serving.',
  },
  failed: {
    ReleaseJobFailed:
      'The release job failed, so the release was not rolled out. The message has the end of its log. Correct the cause and deploy again.',
    ReleaseJobTimedOut:
      'The release job was ended after `spec.releaseJob.timeoutSeconds`, so the release was not rolled out. The message has the end of its log.',
    RolledBack:
      'The newest release did not become ready, so the one before it runs again. Change the image or the spec to make another release, or set `spec.restartedAt` to try the same one again.',
    ReleaseNotFound:
      '`spec.pinnedRelease` names a release that does not exist, or whose release job did not succeed. The message lists the numbers that can be used.',
  },
  intended: {
    Pinned: 'All replicas run the release that `spec.pinnedRelease` names.',
  },
})
