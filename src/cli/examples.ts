// Examples of every command, as data: the end of its `--help`, and docs/reference/cli.md. A test parses each of them.
import type { Command } from 'commander'

export type Example = { readonly line: string; readonly does: string }

/** Command without `sekisho` → its examples. */
export const examples: Readonly<Record<string, readonly Example[]>> = {
  login: [
    { line: 'sekisho login --issuer https://sekisho.example.com', does: 'sign in for the first time' },
    { line: 'sekisho login --device', does: 'sign in on a computer without a browser' },
  ],
  token: [{ line: 'sekisho token', does: 'print a credential; kubectl runs this command itself' }],
  logout: [
    { line: 'sekisho logout', does: 'sign out' },
    { line: 'sekisho logout --everywhere', does: 'sign out in every browser and on every computer' },
  ],
  whoami: [{ line: 'sekisho whoami -o wide', does: 'show your tenants, roles and groups' }],
  kubeconfig: [
    { line: 'sekisho kubeconfig --namespace acme', does: 'write the context sekisho with the namespace acme' },
    {
      line: 'sekisho kubeconfig --kubeconfig ./acme.yaml --context acme --namespace acme',
      does: 'write a file of its own',
    },
  ],
  'audit list': [
    { line: 'sekisho audit list --namespace acme --action token.delivered', does: 'show who received tokens in acme' },
    { line: "sekisho audit list --actor 'github|github.com|42' --limit 1000 -o json", does: 'show what one person did' },
  ],
  'audit verify': [
    { line: 'sekisho audit verify', does: 'verify the whole log' },
    { line: 'sekisho audit verify --checkpoint checkpoints.json', does: 'verify it also against checkpoints that you kept' },
  ],
  'sessions list': [{ line: 'sekisho sessions list', does: 'show who is signed in' }],
  'sessions revoke': [{ line: "sekisho sessions revoke 'github|github.com|42'", does: 'end all sign-ins of one person' }],
  'onboardings list': [{ line: 'sekisho onboardings list', does: 'show which accounts wait' }],
  'onboardings approve': [
    { line: 'sekisho onboardings approve 0b0e7a3c-5a4e-4c55-9d4b-0e6f5d1f2a3b', does: 'let its owner onboard the account' },
  ],
  'onboardings refuse': [
    {
      line: 'sekisho onboardings refuse 0b0e7a3c-5a4e-4c55-9d4b-0e6f5d1f2a3b --reason unknown',
      does: 'refuse it, with a reason for its owner',
    },
  ],
}

/** `audit list` for the command of that name below `sekisho`. */
export function commandPath(command: Command): string {
  const { parent } = command
  return parent === null || parent.parent === null ? command.name() : `${commandPath(parent)} ${command.name()}`
}

/** The commands that do something, in the order in which help lists them. */
export function leafCommands(command: Command): readonly Command[] {
  return command.commands.length === 0 ? [command] : command.commands.flatMap(leafCommands)
}

/** Appends the examples of each command to its help. */
export function addExamples(program: Command): void {
  for (const command of leafCommands(program)) {
    const lines = (examples[commandPath(command)] ?? []).map(({ line, does }) => `  # ${does}\n  ${line}`)
    command.addHelpText('after', `\nExamples:\n${lines.join('\n')}`)
  }
}
