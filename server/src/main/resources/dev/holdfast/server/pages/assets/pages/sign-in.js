// Sign in with a key of the API.
import { html, useState } from '../lib/html.js';
import { signIn } from '../lib/session.js';
import { Button, PageHeader, Note, Copy } from '../parts/basics.js';
import { TextField } from '../parts/form.js';

const COMMAND = './holdfast key create --role viewer --all-tenants --name dashboard';

export default function SignIn({ refusal = null }) {
  const [key, setKey] = useState('');
  const [problem, setProblem] = useState(refusal);
  const [busy, setBusy] = useState(false);
  const submit = async (event) => {
    event.preventDefault();
    if (busy) {
      return;
    }
    if (key.trim() === '') {
      setProblem({ status: 400, detail: 'Paste a key first.' });
      return;
    }
    setBusy(true);
    setProblem(null);
    try {
      await signIn(key.trim());
    } catch (error) {
      setProblem(error);
      setBusy(false);
    }
  };
  const shape = key === '' || key.trim().startsWith('hf_') ? '' : 'Keys of Holdfast begin with hf_. A key set as admin.key may look otherwise.';
  return html`<main class="sign-in" id="main">
    <div class="sign-in-brand" aria-hidden="true"><svg viewBox="0 0 32 32" width="40" height="40" fill="none" stroke="currentColor" stroke-width="2.2" stroke-linecap="round" stroke-linejoin="round"><path d="M4 10.500h24M12 10.500v10.500M20 10.500v10.500M8 26l4-5h8l4 5" /></svg></div>
    <${PageHeader} title="Sign in to Holdfast" sub="It delivers events to other people’s endpoints and does not let go." />
    <form onSubmit=${submit}>
      <${TextField} label="Key" type="password" value=${key} onInput=${setKey} mono autofocus autocomplete="current-password" placeholder="hf_…" hint=${shape || 'The role of the key decides what you can do here. The key itself is not kept in the browser.'} />
      ${problem !== null && html`<${Note} kind="bad"><strong>${titleOf(problem)}</strong> <span>${textOf(problem)}</span><//>`}
      <${Button} type="submit" kind="primary" busy=${busy}>Sign in<//>
    </form>
    <section class="sign-in-help" aria-labelledby="no-key">
      <h2 id="no-key">No key yet?</h2>
      <p>Whoever runs the server makes one with this command, which prints the key once:</p>
      <div class="command"><code>${COMMAND}</code><${Copy} text=${COMMAND} label="Copy the command" /></div>
      <p><b>viewer</b> looks at everything, <b>operator</b> also manages subscriptions, endpoints and messages, <b>admin</b> does all. A <b>publisher</b> key only sends events and cannot sign in. With <code>--tenant acme</code> in place of <code>--all-tenants</code> the key is for one tenant.</p>
    </section>
  </main>`;
}

function titleOf(problem) {
  switch (problem.status) {
    case 0: return 'The server cannot be reached.';
    case 400: return 'No key.';
    case 401: return 'This key opens nothing.';
    case 403: return 'This key cannot sign in.';
    case 429: return 'Too many wrong keys came from here.';
    default: return 'That did not work.';
  }
}

function textOf(problem) {
  switch (problem.status) {
    case 0: return 'See that it runs, then try again.';
    case 401: return 'It is mistyped, has expired or was revoked. Paste the whole key as it was printed, or make a new one as below.';
    case 429: return problem.retryAfter ? `Try again in ${problem.retryAfter} s.` : 'Wait a little, then try again.';
    default: return problem.detail || 'Try again, and look at the server’s log if it stays so.';
  }
}
