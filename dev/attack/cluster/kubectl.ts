// The same defences with kubectl itself: the commands that reach into pods and rights.
import { neighbourNamespace, tenantNamespace } from '../../demo/context.ts'
import { run } from '../../demo/tools.ts'
import type { Attack, Attempt } from '../attack.ts'
import { judgeKubectl } from '../judge.ts'
import { platformNamespace } from '../world/targets.ts'
import type { World } from '../world/world.ts'

type Login = 'gary' | 'dave' | 'mia'

function kubectl(world: World, login: Login, args: readonly string[]): Attempt {
  return {
    name: `${login}: kubectl ${args.join(' ')}`,
    async run() {
      // kubectl signs in with what `sekisho login` left.
      await world.credentials(login)
      const result = await run(world.demo.people[login], world.demo.tools.kubectl, ['--request-timeout=10s', ...args])
      world.watcher.see(`${login}: kubectl ${args[0]}`, `${result.output}${result.errors}`)
      return judgeKubectl(result)
    },
  }
}

function attempts(world: World): readonly Attempt[] {
  const { name } = world.targets.victim.pod
  const inside = (login: Login): readonly (readonly string[])[] => [
    // dave may: he is a developer of acme.
    ...(login === 'dave'
      ? []
      : [
          ['exec', name, '-n', tenantNamespace, '--', 'true'],
          ['cp', '-n', tenantNamespace, `${name}:/workspace/server.js`, `/tmp/attack-${login}`],
        ]),
    ['debug', name, '-n', tenantNamespace, '--image=x', '--target=web', '--attach=false'],
    ['port-forward', '-n', tenantNamespace, `pod/${name}`, ':3000'],
    ['get', 'secrets', '-n', tenantNamespace, '-o', 'yaml'],
    ['create', 'token', 'default', '-n', tenantNamespace],
    ['get', 'secrets', '-A', '--as=system:admin', '--as-group=system:masters'],
  ]
  return [
    ...(['gary', 'dave', 'mia'] as const).flatMap(login => inside(login).map(args => kubectl(world, login, args))),
    kubectl(world, 'gary', ['logs', name, '-n', tenantNamespace]),
    kubectl(world, 'gary', ['get', 'all', '-n', tenantNamespace]),
    kubectl(world, 'gary', ['describe', 'applications', '-n', tenantNamespace]),
    kubectl(world, 'gary', ['drain', world.settings.nodeName, '--dry-run=server']),
    kubectl(world, 'gary', ['label', 'namespace', neighbourNamespace, 'sekisho.dev/tenant=acme', '--overwrite']),
    kubectl(world, 'dave', ['get', 'configmaps', '-n', platformNamespace]),
  ]
}

export const kubectlAttacks: readonly Attack[] = [
  {
    name: 'reads/with-kubectl',
    as: 'gary, admin of globex, and dave and mia of acme',
    against: 'pods, Secrets, tokens and logs of acme, and the cluster',
    tries: 'exec, debug, cp, port-forward, create token, --as, logs, drain and label, with kubectl itself.',
    expected: ['RBAC'],
    attempts,
  },
]
