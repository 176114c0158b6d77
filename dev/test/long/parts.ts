// What `make test-long` runs, as data: the long forms of what `make test` plays in a short one, and what it does not play at
// all. Each part stands alone and takes at most 45 minutes on two quiet processors.
import type { Mode } from '../../up/mode.ts'
import { proofs } from '../selection/proofs.ts'
import { attacks, controlPlane, demo, first, type Lane, replicas, type Stage, vitest, vitestArguments } from '../stages.ts'

export type Part = {
  readonly name: string
  /** For `make test-long PART=list`. */
  readonly proves: string
  /** It starts the platform first, and stops it at the end. */
  readonly mode?: Mode
  readonly lane: Lane
}

const isLong = { SEKISHO_LONG: '1' }
const long = (stage: Stage, environment: Readonly<Record<string, string>> = {}): Stage => ({
  ...stage,
  environment: { ...stage.environment, ...isLong, ...environment },
})

/** All points of all scenarios take between two and three hours. */
const sweepShards = 4
const crashes = Array.from({ length: sweepShards }, (_, index): Part => {
  const shard = `${index + 1}/${sweepShards}`
  const stage = { ...vitest(`crash tests, ${shard} of the scenarios`, 2400, 'sweep'), repeatsItself: true } as const
  return {
    name: `crashes-${index + 1}`,
    proves: `a controller that is killed before or after any single write of its scenario reaches the state of the undisturbed run (${shard} of the scenarios)`,
    lane: [long(stage, { SEKISHO_SWEEP_SHARD: shard })],
  }
})

/** The files that `make test` leaves out when nothing of theirs changed. */
function filesOf(part: string): readonly string[] {
  return proofs.flatMap(proof => (proof.part === part ? (proof.file ?? []) : []))
}

export const parts: readonly Part[] = [
  ...crashes,
  {
    name: 'faults',
    proves: 'the figures of docs/reference/faults.md',
    lane: [long(vitest('fault tests', 700, 'faults', 'programs'))],
  },
  {
    name: 'control-plane',
    proves:
      'what needs no pods, all files in their short forms: those too that `make test` leaves out because they passed as they are',
    lane: [...first, ...controlPlane].filter(({ projects }) => projects?.includes('sweep') === false),
  },
  {
    name: 'admission-and-previews',
    proves:
      'the matrix with policies and webhook each alone, 40 pull requests in 300 steps, the end of 50 previews, 54 services of previews',
    lane: [
      long({
        title: 'integration tests that have a long form',
        budget: 480,
        args: vitestArguments(
          ['integration'],
          [
            'test/attack/admission.test.ts',
            'test/integration/preview-deletion.test.ts',
            'test/integration/preview-invariant.test.ts',
            'test/integration/preview-services.test.ts',
          ],
        ),
      }),
    ],
  },
  {
    name: 'github-faults',
    proves:
      'nothing is built, approved or reported while GitHub fails in any way in answer to any question; `make up` on a cluster of the user',
    lane: [
      long({
        title: 'integration tests in which GitHub fails',
        budget: 320,
        args: vitestArguments(
          ['integration'],
          [
            'test/integration/preview-approval-faults.test.ts',
            'test/integration/preview-report-faults.test.ts',
            'test/integration/preview-doubt.test.ts',
            'test/integration/pull-requests.test.ts',
            ...filesOf('github-faults'),
          ],
        ),
      }),
    ],
  },
  {
    name: 'integration-files',
    proves:
      'one part of the product each: pages of a tenant, the service proxy, restarts of the webhook, unused images, trusted forks, what Installations cost',
    lane: [
      long({
        title: 'integration tests of one part each',
        budget: 400,
        args: vitestArguments(['integration'], filesOf('integration-files')),
      }),
    ],
  },
  {
    name: 'builds-and-volumes',
    proves:
      'builders and buildpacks, secrets of builds, users of images, newer run images; volumes, schedules, kernels of their own',
    mode: 'production',
    lane: [
      demo,
      long({
        title: 'end-to-end tests of builds and volumes',
        budget: 500,
        args: vitestArguments(['e2e'], filesOf('builds-and-volumes')),
      }),
    ],
  },
  {
    name: 'attacks',
    proves:
      'every attack on the production form, those that build and those that flood for seconds too; each of its Deployments and leaders lost under load',
    mode: 'production',
    lane: [demo, { ...attacks, title: 'attacks', budget: 400, args: ['dev/attack/main.ts'] }, long(replicas)],
  },
  {
    name: 'standalone',
    proves: 'the whole demo and every attack on the standalone form',
    mode: 'standalone',
    lane: [demo, { ...attacks, title: 'attacks (standalone)', budget: 400, args: ['dev/attack/main.ts'] }],
  },
  {
    name: 'applications',
    proves:
      'the whole demo after the App was uninstalled and installed again; the tutorial, block by block; releases, a branch, pages in a browser, the network of pods',
    mode: 'production',
    lane: [
      demo,
      long({
        title: 'end-to-end tests of applications',
        budget: 800,
        args: vitestArguments(['e2e'], ['test/e2e/reinstall.test.ts', ...filesOf('applications')]),
      }),
    ],
  },
]
