import json
from typing import Any

from tests.template.stack import ROOT, Stack

ALARM = "AWS::CloudWatch::Alarm"


def alarms(stack: Stack) -> dict[str, dict[str, Any]]:
    return stack.nested("Monitoring").of_type(ALARM)


def watched(alarm: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the metrics of an alarm: name, namespace, dimensions."""
    return [m["MetricStat"]["Metric"] for m in alarm["Metrics"] if "MetricStat" in m] if "Metrics" in alarm else [alarm]


def functions_watched_for(stack: Stack, metric: str) -> set[str]:
    found = [m for alarm in alarms(stack).values() for m in watched(alarm) if m.get("MetricName") == metric]
    return {d["Value"] for m in found for d in m["Dimensions"] if d["Name"] == "FunctionName"}


def test_every_alarm_tells_somebody_when_it_rings_and_when_it_is_over(any_stack: Stack) -> None:
    for alarm in alarms(any_stack).values():
        assert alarm["AlarmActions"] == ["<Topic>"]
        assert alarm["OKActions"] == ["<Topic>"]


def test_no_alarm_is_switched_off_and_each_says_what_silence_means(any_stack: Stack) -> None:
    for name, alarm in alarms(any_stack).items():
        assert alarm.get("ActionsEnabled", True) is True, name
        assert alarm["TreatMissingData"] in ("breaching", "notBreaching"), name
        assert alarm.get("DatapointsToAlarm", 1) <= alarm["EvaluationPeriods"], name


def rows() -> dict[str, tuple[str, str]]:
    """Return what operations say of each alarm: what it means, and what to do."""
    guide = (ROOT / "docs/operations.md").read_text("utf-8").partition("\n## Alarms")[2].partition("\n### ")[0]
    told = [
        [cell.strip(" `") for cell in line.split("|")[1:-1]] for line in guide.splitlines() if line.startswith("| `")
    ]
    return {name: (means, do) for name, means, do in told}


def test_every_alarm_says_what_is_wrong_and_operations_what_to_do_and_of_no_other(with_domain: Stack) -> None:
    assert set(rows()) == set(alarms(with_domain))
    assert all(alarm["AlarmDescription"] for alarm in alarms(with_domain).values())
    assert not [name for name, (means, do) in rows().items() if not means or len(do) < len("Look at its log.")]


# What an operator has to be woken by.
WANTED = {
    "5xx rate": ("ServerErrors", "5xx"),
    "p99": ("Slow", "Latency"),
    "dead letters": ("DeadLetters", "ApproximateNumberOfMessagesVisible"),
    "age of the oldest message": ("OldestMessage", "ApproximateAgeOfOldestMessage"),
    "age of the oldest file": ("OldestDocument", "ApproximateAgeOfOldestMessage"),
    "throttled functions": ("FunctionThrottles", "Throttles"),
    "throttled table": ("TableThrottled", "WriteThrottleEvents"),
    "sweeper late": ("SweepLate", "SweepLag"),
    "search red": ("SearchRed", "ClusterStatus.red"),
    "search full": ("SearchFull", "FreeStorageSpace"),
    "errors of the key": ("Denied", "Denied"),
}


def test_whatever_an_operator_has_to_be_woken_by_has_an_alarm(with_domain: Stack) -> None:
    for name, metric in WANTED.values():
        assert metric in {m.get("MetricName") for m in watched(alarms(with_domain)[name])}
    assert alarms(with_domain)["Slow"]["ExtendedStatistic"] == "p99"


def test_every_function_is_watched_for_crashes_and_throttles(stack: Stack) -> None:
    functions = {f"<{name}>" for name in stack.of_type("AWS::Lambda::Function")}
    assert functions_watched_for(stack, "Errors") == functions
    assert functions_watched_for(stack, "Throttles") == functions


def test_dead_letters_ring_at_the_first(stack: Stack) -> None:
    alarm = alarms(stack)["DeadLetters"]
    assert (alarm["Threshold"], alarm["ComparisonOperator"]) == (0, "GreaterThanThreshold")
    assert alarm["Dimensions"] == [{"Name": "QueueName", "Value": "<DeadLetterQueue.QueueName>"}]


def test_the_alarm_of_throttles_ends_when_dynamodb_tells_of_none_any_more(stack: Stack) -> None:
    alarm = alarms(stack)["TableThrottled"]
    (sum_of_all,) = [m["Expression"] for m in alarm["Metrics"] if "Expression" in m]
    told = [m["Id"] for m in alarm["Metrics"] if "MetricStat" in m]
    assert sum_of_all == " + ".join(f"FILL({name}, 0)" for name in told)
    # The newest minute may be filled before it is told: so one of a few is not enough.
    assert 1 < alarm["DatapointsToAlarm"] < alarm["EvaluationPeriods"]


def test_a_sweeper_that_does_not_run_rings_though_it_says_nothing(stack: Stack) -> None:
    alarm = alarms(stack)["SweeperMissing"]
    assert (alarm["MetricName"], alarm["TreatMissingData"]) == ("Invocations", "breaching")


def test_every_functions_log_is_read_for_refusals_of_the_key(stack: Stack) -> None:
    filters = stack.nested("Monitoring").of_type("AWS::Logs::MetricFilter").values()
    groups = {f["LoggingConfig"]["LogGroup"] for f in stack.of_type("AWS::Lambda::Function").values()}
    assert {f["LogGroupName"] for f in filters} == groups
    assert {(m["MetricNamespace"], m["MetricName"]) for f in filters for m in f["MetricTransformations"]} == {
        (alarms(stack)["Denied"]["Namespace"], alarms(stack)["Denied"]["MetricName"])
    }


def test_search_is_watched_only_where_there_is_a_domain(stack: Stack, with_domain: Stack) -> None:
    assert set(alarms(with_domain)) - set(alarms(stack)) == {"SearchRed", "SearchFull", "SearchReadOnly"}


def test_own_metrics_are_watched_in_the_namespace_that_functions_write_to(stack: Stack) -> None:
    (space,) = {
        f["Environment"]["Variables"]["POWERTOOLS_METRICS_NAMESPACE"]
        for f in stack.of_type("AWS::Lambda::Function").values()
    }
    own = [
        m
        for alarm in alarms(stack).values()
        for m in watched(alarm)
        if not m.get("Namespace", "AWS/").startswith("AWS/")
    ]
    assert {m["Namespace"] for m in own} == {space}
    assert {"SweepErrors", "SweepLag", "Denied"} <= {m["MetricName"] for m in own}


def test_the_topic_is_encrypted_and_takes_alarms_of_this_account_over_tls_alone(stack: Stack) -> None:
    monitoring = stack.nested("Monitoring")
    (policy,) = monitoring.of_type("AWS::SNS::TopicPolicy").values()
    allow, deny = policy["PolicyDocument"]["Statement"]
    assert monitoring.of_type("AWS::SNS::Topic")["Topic"]["KmsMasterKeyId"] == "<Data.Outputs.KeyArn>"
    assert allow["Condition"] == {"StringEquals": {"aws:SourceAccount": "111122223333"}}
    assert deny["Condition"] == {"Bool": {"aws:SecureTransport": "false"}}


def test_mail_is_sent_only_where_an_address_was_given(stack: Stack, prod: Stack) -> None:
    assert "Subscription" not in stack.nested("Monitoring").of_type("AWS::SNS::Topic")["Topic"]
    assert prod.nested("Monitoring").of_type("AWS::SNS::Topic")["Topic"]["Subscription"] == [
        {"Protocol": "email", "Endpoint": "on-call@example.org"}
    ]


def test_the_dashboard_is_readable_with_and_without_search(stack: Stack, with_domain: Stack) -> None:
    def titles(of: Stack) -> set[str]:
        body = of.nested("Monitoring").of_type("AWS::CloudWatch::Dashboard")["Dashboard"]["DashboardBody"]
        return {widget["properties"]["title"] for widget in json.loads(body)["widgets"]}

    assert titles(with_domain) - titles(stack) == {"Search domain"}
