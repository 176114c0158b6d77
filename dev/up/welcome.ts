// What a person sees at the end of `make up`: where things are, who can sign in, and what to try next.
import { join } from 'node:path'
import { type ClusterSettings, devClusterFolder } from '../cluster/settings.ts'
import { readLocalGitHub } from './github.ts'
import { platformAdmin } from './settings-map.ts'

export async function printWelcome(settings: ClusterSettings): Promise<void> {
  const github = await readLocalGitHub(settings)
  const authority = join(devClusterFolder(settings), 'pki/ca.crt')
  console.log(`
Sekisho runs.

  Platform        ${settings.issuerUrl}   (certificate authority: ${authority})
  GitHub          ${github.web}
  Application     http://shop.acme.localhost:${settings.ingressPort}

  People (choose one on GitHub's sign-in page; there are no passwords here)
    olivia   owner of acme              gary   owner of globex
    dave     team acme/developers       noah   member of nothing
    mia      member of acme             ${platformAdmin.login.padEnd(6)} platform admin

  Try next
    eval "$(make -s env)"                         # kubectl as the administrator
    kubectl get sekisho -A                       # every object of the platform
    export SEKISHO_ISSUER=${settings.issuerUrl} SEKISHO_CA_FILE=${authority}
    bin/sekisho login                            # sign in as one of the people
    bin/sekisho kubeconfig                       # a kubectl context that runs as that person
    bin/sekisho audit list                       # as ${platformAdmin.login}: who got which token, for what and why
    make demo                                    # the main job again; make down stops everything
`)
}
