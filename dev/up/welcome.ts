// The text at the end of `make up`: the addresses, the users and what to try next.
import { join } from 'node:path'
import { type ClusterSettings, devClusterFolder } from '../cluster/settings.ts'
import { githubFolder, readLocalGitHub } from './github.ts'
import { type Mode, modes } from './mode.ts'
import { platformAdmin } from './settings-map.ts'

/** What the form consists of, in a line. */
const forms: { readonly [M in Mode]: string } = {
  standalone: 'one process with an embedded database',
  production: 'broker, controllers and admission with two replicas each, on PostgreSQL',
}

export async function printWelcome(settings: ClusterSettings, mode: Mode): Promise<void> {
  const github = await readLocalGitHub(settings)
  const authority = join(devClusterFolder(settings), 'pki/ca.crt')
  const other = modes.find(name => name !== mode) ?? mode
  console.log(`
Sekisho is running in the ${mode} form: ${forms[mode]}.

  Platform        ${settings.issuerUrl}   (certificate authority: ${authority})
  GitHub          ${github.web}
  Application     http://shop.acme.localhost:${settings.ingressPort}   (with TLS: port ${settings.ingressTlsPort})

  Users (choose one on GitHub's sign-in page; the emulator has no passwords)
    olivia   owner of acme              gary   owner of globex
    dave     team acme/developers       noah   member of no organization
    mia      member of acme             ${platformAdmin.login.padEnd(6)} platform admin

  Try next
    eval "$(make -s env)"                         # kubectl as the administrator
    kubectl get sekisho-platform -A              # all objects of the platform
    export SEKISHO_ISSUER=${settings.issuerUrl} SEKISHO_CA_FILE=${authority}
    bin/sekisho login                            # sign in as one of the users
    bin/sekisho kubeconfig                       # add a kubectl context for that user
    bin/sekisho status                           # what runs, and whether it is what should run
    bin/sekisho audit list                       # as ${platformAdmin.login}: the audit log of issued and refused tokens
    make demo                                    # run the demo again; make down stops everything
    make up MODE=${other.padEnd(30)} # replace this form by the other one

  An application of your own, step by step: docs/guide/first-application.md
  It works as written for dave. What stands there for GitHub and for the platform is here:
    sign in                   with the variables above, as dave
    the new repository        ${github.web}/acme, signed in as dave: New repository
    git remote add origin     ${github.web}/acme/store.git
    git push                  user dave; the password is his token in ${join(githubFolder(settings), 'secrets/personal-access-tokens.json')}
`)
}
