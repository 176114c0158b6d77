// The running platform as the tests see it: real tools for what people do, and the administrator's client for looking.
// Tests write as people, with kubectl; they read as the administrator, because a look must be cheap to be repeated.
import { type AdminClient, adminClientFor } from '../../dev/cluster/control-plane/admin-client.ts'
import { adminKubeconfig, readClusterSettings } from '../../dev/cluster/settings.ts'
import { type DemoContext, tenantNamespace } from '../../dev/demo/context.ts'
import { prepareDemo } from '../../dev/demo/run.ts'
import { commandLineLogin } from '../../dev/demo/scenario/sign-in.ts'
import { mustRun, type Person, type Result, run } from '../../dev/demo/tools.ts'
import { forgetObjects, untilGone } from './objects.ts'

export type Login = keyof DemoContext['people']

export type Platform = {
  readonly world: DemoContext
  readonly admin: AdminClient
  readonly stateFolder: string
  /** Runs kubectl as the person, whatever comes of it. */
  readonly kubectl: (login: Login, args: readonly string[], input?: string) => Promise<Result>
  /** `kubectl apply` of these objects in acme; throws what kubectl says when it refuses. */
  readonly apply: (login: Login, objects: readonly object[]) => Promise<string>
  /** Deletes what is there of them and waits until it is gone. */
  readonly remove: (references: readonly string[]) => Promise<void>
  readonly asAdministrator: (args: readonly string[]) => Promise<Result>
  readonly sekisho: (login: Login, args: readonly string[]) => Promise<Result>
}

/** Needs the platform of `make up` after one demo; the people have homes of their own, apart from those of the demo. */
export async function openPlatform(logins: readonly Login[]): Promise<Platform> {
  const settings = readClusterSettings()
  const world = await prepareDemo(settings, 'e2e')
  const admin = await adminClientFor(adminKubeconfig(settings))
  for (const login of logins) await ensureSignedIn(world, world.people[login])
  const kubectl: Platform['kubectl'] = (login, args, input) =>
    run(world.people[login], world.tools.kubectl, args, input === undefined ? {} : { input })
  return {
    world,
    admin,
    stateFolder: settings.stateFolder,
    kubectl,
    apply: (login, objects) =>
      mustRun(world.people[login], world.tools.kubectl, ['apply', '-n', tenantNamespace, '-f', '-'], {
        input: documentsOf(objects),
      }),
    async remove(references) {
      await forgetObjects(admin, references)
      await untilGone(admin, references)
    },
    asAdministrator: args =>
      run(world.people.ada, world.tools.kubectl, args, { environment: { KUBECONFIG: adminKubeconfig(settings) } }),
    sekisho: (login, args) => run(world.people[login], world.tools.sekisho, args),
  }
}

/** Documents, not a List: kubectl checks a List against its own copy of the schema, in which defaults are missing fields. */
export function documentsOf(objects: readonly object[]): string {
  return objects.map(object => JSON.stringify(object)).join('\n---\n')
}

/** A login of an earlier run that still works is used again. */
async function ensureSignedIn(world: DemoContext, who: Person): Promise<void> {
  const answer = await run(who, world.tools.kubectl, ['auth', 'whoami', '-o', 'jsonpath={.status.userInfo.username}'])
  if (answer.code === 0 && answer.output.startsWith('github|')) return
  await commandLineLogin(world, who)
}
