// The running platform for tests: the real tools of users, and an administrator's client. Tests write as users, with kubectl;
// they read as the administrator, so that repeated reads are cheap.
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
  /** Runs kubectl as the person; does not throw on failure. */
  readonly kubectl: (login: Login, args: readonly string[], input?: string) => Promise<Result>
  /** Runs `kubectl apply` with these objects in acme; throws kubectl's error output on failure. */
  readonly apply: (login: Login, objects: readonly object[]) => Promise<string>
  /** Deletes the objects that exist and waits until they are gone. */
  readonly remove: (references: readonly string[]) => Promise<void>
  readonly asAdministrator: (args: readonly string[]) => Promise<Result>
  readonly sekisho: (login: Login, args: readonly string[]) => Promise<Result>
}

/** Needs the platform of `make up` after one demo; the people have home folders of their own, apart from those of the demo. */
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

/** Documents, not a List: kubectl validates a List against its own schema, which treats omitted defaults as missing fields. */
export function documentsOf(objects: readonly object[]): string {
  return objects.map(object => JSON.stringify(object)).join('\n---\n')
}

/** Reuses a login of an earlier run if it still works. */
async function ensureSignedIn(world: DemoContext, who: Person): Promise<void> {
  const answer = await run(who, world.tools.kubectl, ['auth', 'whoami', '-o', 'jsonpath={.status.userInfo.username}'])
  if (answer.code === 0 && answer.output.startsWith('github|')) return
  await commandLineLogin(world, who)
}
