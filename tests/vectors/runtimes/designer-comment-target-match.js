if (typeof config.repository !== "string" || !config.repository.trim() ||
    !Number.isInteger(config.issueNumber) || config.issueNumber < 1) return null;
const { eventsOfType } = helpers.createSessionLookups(session);
const comments = eventsOfType("safe_output.result").filter(({ data }) => data?.type === "add_comment");
if (!comments.length || comments.some(({ data }) =>
    typeof data.repo !== "string" || !data.repo.trim() ||
    !Number.isInteger(data.number) || data.number < 1 ||
    typeof data.url !== "string" || !data.url)) return null;
return comments.every(({ data }) =>
  data.repo === config.repository && data.number === config.issueNumber) ? 1 : 0;
